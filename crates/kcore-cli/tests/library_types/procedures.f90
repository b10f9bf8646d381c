! Names, subscripts, procedures within others, and arguments of Fortran. The program tells what they hold, then it dies.
module kinds
  implicit none
  type :: base_type
     integer :: ident
  end type
  type, extends(base_type) :: spot
     real(8) :: east
     integer, allocatable :: parts(:)
  end type
  integer, parameter :: upper_limit = 42
  character(len=3), parameter :: short_tag = 'abc'
  integer :: My_Table(2, 3)
  character(len=4) :: my_names(3) = ['aaaa', 'bb  ', 'cccc']
  character(kind=4, len=4) :: my_wide = 4_'wxyz'
  character(len=:), allocatable :: my_word
  logical(1) :: narrow_truth = .true.
  logical(8) :: wide_truth = .true.
  complex(8) :: my_complex = (1.5d0, -2.5d0)
  type(spot) :: my_spot
  type(spot), target :: my_spots(3)
  type(spot), pointer :: no_spot, one_spot
contains
  subroutine tell(verb, path, truth)
    character(len=*), intent(in) :: verb, path, truth
    write (*, '(A)') verb // achar(9) // path // achar(9) // truth
  end subroutine

  subroutine tell_number(path, truth)
    character(len=*), intent(in) :: path
    integer, intent(in) :: truth
    write (*, '(A, I0)') 'number' // achar(9) // path // achar(9), truth
  end subroutine

  subroutine outer(matrix, left_out, left_array, left_text, flat)
    integer, intent(inout) :: matrix(:, :)
    integer, optional :: left_out, left_array(:)
    character(len=*), optional :: left_text
    integer :: flat(2, *)
    integer :: of_host, grid(3)
    of_host = 30
    grid = [5, 6, 7]
    call within(3)
  contains
    subroutine within(depth)
      integer, intent(in) :: depth
      integer :: automatic(depth:depth + 2), around(-depth:depth)
      automatic = [21, 22, 23]
      around = 0
      around(-1) = 77
      call tell_number('within:automatic(4)', automatic(4))
      call tell_number('within:automatic(3)', automatic(3))
      call tell_number('within:around(-1)', around(-1))
      of_host = of_host + depth
      call deeper(matrix, my_table(1, 1))
    end subroutine

    subroutine deeper(assumed, scalar)
      integer :: assumed(..), scalar(..)
      grid(1) = grid(1) + 1
      call tell_number('deeper:of_host', of_host)
      call tell_number('deeper:OF_Host', of_host)
      call tell_number('deeper:grid(1)', grid(1))
      call tell_number('deeper:matrix(2,3)', matrix(2, 3))
      call tell_number('deeper:flat(2,2)', flat(2, 2))
      call tell_number('deeper:assumed(2,3)', matrix(2, 3))
      call tell_number('deeper:scalar', my_table(1, 1))
      call tell('has', 'outer:left_out', '<not present>')
      call tell('has', 'outer:left_array', '<not present>')
      call tell('has', 'outer:left_text', '<not present>')
      flush (6)
      call abort()
    end subroutine
  end subroutine
end module

program main
  use kinds
  implicit none
  integer :: i, j
  do j = 1, 3
     do i = 1, 2
        my_table(i, j) = 10 * i + j
     end do
  end do
  my_word = 'allocated text'
  nullify (no_spot)
  allocate (one_spot)
  my_spot%ident = 5
  my_spot%east = 1.5d0
  my_spot%parts = [4, 5, 6]
  one_spot%ident = 6
  my_spots(2)%ident = 22
  call tell_number('upper_limit', upper_limit)
  call tell_number('UPPER_Limit', upper_limit)
  call tell('shows', 'short_tag', '"abc"')
  call tell_number('my_table(2,3)', my_table(2, 3))
  call tell_number('MY_TABLE(2, 3) + 1', my_table(2, 3) + 1)
  call tell_number('my_table[2][3]', my_table(2, 3))
  call tell('shows', 'my_table(2,:)', '(0x15, 0x16, 0x17)')
  call tell('shows', 'my_table(1,3:1:-2)', '(0xd, 0xb)')
  call tell('has', 'my_table(3,1)', 'index 3 is outside of the bounds 1:2')
  call tell('has', 'my_table(1)', '1 subscripts for an array of rank 2')
  call tell('text', 'my_names(3)', 'cccc')
  call tell('text', 'my_names(1)(2:3)', 'aa')
  call tell('text', 'my_wide', 'wxyz')
  call tell('has', 'my_word', '"allocated text"')
  call tell('shows', 'my_word(2:4)', '"llo"')
  call tell('shows', 'narrow_truth', 'true')
  call tell('shows', 'wide_truth', 'true')
  call tell('shows', 'my_complex', '+1.5000000e+00-2.5000000e+00i')
  call tell_number('my_spot%ident', my_spot%ident)
  call tell_number('my_spot%base_type%ident', my_spot%ident)
  call tell_number('My_Spot%Parts(2)', my_spot%parts(2))
  call tell_number('my_spots(2)%ident', my_spots(2)%ident)
  call tell_number('one_spot%ident', one_spot%ident)
  call tell('shows', 'no_spot', '0')
  call outer(my_table, flat=my_table)
end program
