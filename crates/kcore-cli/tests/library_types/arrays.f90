! Arrays of Fortran. The program tells what they hold, then it dies.
module shapes
  implicit none
  type point
     integer :: x, y
     integer, allocatable :: parts(:)
  end type
  integer :: counter = 7
  integer :: table(2, 3)
  integer :: lows(-1:1) = [10, 20, 30]
  type(point) :: origin
  integer, allocatable :: heap(:), never(:), square(:, :)
  integer, target :: line(6) = [1, 2, 3, 4, 5, 6]
  integer, pointer :: odd(:), backwards(:), nowhere(:)
  character(len=5) :: my_word = 'hello'
  logical :: flag = .true.
contains
  subroutine tell(verb, path, truth)
    character(len=*), intent(in) :: verb, path
    integer, intent(in) :: truth
    write (*, '(A, A, A, A, I0)') verb, achar(9), path, achar(9), truth
  end subroutine

  subroutine inner(my_vector, n, my_letters, my_matrix)
    integer, intent(in) :: n
    integer, intent(inout) :: my_vector(n)
    character(len=*), intent(in) :: my_letters
    integer, intent(in) :: my_matrix(:, :)
    call tell('total', 'local:my_vector', size(my_vector))
    call tell('number', 'local:my_vector[3]', my_vector(3))
    call tell('number', 'local:my_matrix[2][3]', my_matrix(2, 3))
    call tell('number', 'local:my_matrix[1][2]', my_matrix(1, 2))
    write (*, '(A, A, A)') 'text', achar(9) // 'local:my_letters' // achar(9), my_letters
    flush (6)
    call abort()
  end subroutine
end module

program main
  use shapes
  implicit none
  integer :: a(3), i, j
  a = [1, 2, 3]
  do j = 1, 3
     do i = 1, 2
        table(i, j) = 10 * i + j
     end do
  end do
  odd => line(1:6:2)
  backwards => line(6:1:-1)
  nullify (nowhere)
  allocate (heap(3:5), square(0:1, 2:3), origin%parts(2))
  heap = [7, 8, 9]
  square = reshape([1, 2, 3, 4], [2, 2])
  origin%x = 3
  origin%y = 4
  origin%parts = [31, 32]
  call tell('number', 'counter', counter)
  call tell('number', 'table[2][3]', table(2, 3))
  call tell('number', 'table[1][3]', table(1, 3))
  call tell('number', 'lows[-1]', lows(-1))
  call tell('number', 'lows[1]', lows(1))
  call tell('number', 'heap[4]', heap(4))
  call tell('total', 'heap', size(heap))
  call tell('number', 'square[0][3]', square(0, 3))
  call tell('number', 'square[1][2]', square(1, 2))
  call tell('number', 'odd[2]', odd(2))
  call tell('total', 'odd', size(odd))
  call tell('number', 'backwards[1]', backwards(1))
  call tell('number', 'backwards[6]', backwards(6))
  call tell('number', 'origin.y', origin%y)
  call tell('number', 'origin.parts[2]', origin%parts(2))
  write (*, '(A)') 'shows' // achar(9) // 'never' // achar(9) // '<not allocated>'
  write (*, '(A)') 'shows' // achar(9) // 'nowhere' // achar(9) // '<not associated>'
  write (*, '(A)') 'text' // achar(9) // 'my_word' // achar(9) // 'hello'
  call inner(a, 3, 'text', table)
end program
