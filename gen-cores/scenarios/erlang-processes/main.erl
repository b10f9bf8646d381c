% Processes of Erlang in all states: in receive with and without a time, below many calls, in a loop, suspended,
% hibernating, in a call of C that waits, ended; with messages of all kinds, and tables.

-module(main).
-behaviour(gen_server).
-export([start/0, director/0, sleeper/1, deep/1, busy/1, fifo/1, talker/1, parked/0, catcher/0]).
-export([init/1, handle_call/3, handle_cast/2]).

start() ->
    spawn(?MODULE, director, []).

director() ->
    register(director, self()),
    {ok, _} = gen_server:start({local, 'my server'}, ?MODULE, [], []),
    register(sleeper, spawn(?MODULE, sleeper, [3600000])),
    register(deep, spawn(?MODULE, deep, [40])),
    register(catcher, spawn(?MODULE, catcher, [])),
    [spawn(?MODULE, parked, []) || _ <- lists:seq(1, 50)],
    % The shell is the system's, and so are its libraries.
    os:unsetenv("LD_LIBRARY_PATH"),
    os:cmd("rm -f fifo; mkfifo fifo"),
    Fifo = spawn(?MODULE, fifo, ["fifo"]),
    register(fifo, Fifo),
    Talker = spawn(?MODULE, talker, [self()]),
    register(talker, Talker),
    [Talker ! Message || Message <- messages(self(), Talker)],
    register(hibernator, spawn(fun() -> erlang:hibernate(?MODULE, parked, []) end)),
    Dead = spawn(fun() -> ok end),
    Suspended = spawn(?MODULE, parked, []),
    register(suspended, Suspended),
    true = erlang:suspend_process(Suspended),
    ets:new(names, [named_table, public, ordered_set, {keypos, 2}]),
    ets:insert(names, {1, a}),
    Numbers = ets:new(numbers, [set, public]),
    [ets:insert(Numbers, {N, N * N}) || N <- lists:seq(1, 100)],
    ets:new(written, [ordered_set, public, {write_concurrency, true}]),
    ets:new(several, [bag]),
    ets:new(repeated, [duplicate_bag, named_table]),
    timer:sleep(300),
    false = is_process_alive(Dead),
    Busy = spawn(?MODULE, busy, [0]),
    register(busy, Busy),
    timer:sleep(100),
    truth:tell([Busy, Fifo]),
    receive never -> ok end,
    ok.

messages(Self, Other) ->
    [{hello, [1, 2.5, "text", <<"bin">>, <<1, 2, 200>>]},
     'odd atom',
     {Self, make_ref(), -12345678901234567890123, 1 bsl 70, <<5:3>>},
     fun lists:map/2,
     {binary:copy(<<"long">>, 40), fun(X) -> {X, Other} end},
     #{a => 1},
     maps:from_list([{N, N} || N <- lists:seq(1, 40)]),
     [a | b],
     [],
     "h\x{e9}llo \"quoted\"",
     <<"h\x{e9}llo"/utf8>>,
     {1.0e100, -0.001, 1.0e-10, 123456789.125, 0.0},
     binary:part(binary:copy(<<"part">>, 40), 3, 5),
     {'end', true, [], {}, #{}, <<>>}].

sleeper(Time) -> receive never -> ok after Time -> ok end, done.

deep(0) -> receive never -> 0 end;
deep(N) -> 1 + deep(N - 1).

catcher() ->
    try lists:foreach(fun(_) -> receive never -> ok end end, [1, 2]) of
        ok -> done
    catch
        error:Reason -> Reason
    end.

busy(N) -> busy((N * 7 + 1) rem 1000003).

fifo(Name) ->
    {ok, File} = file:open(Name, [read, raw]),
    file:close(File).

talker(Parent) -> receive {Parent, never} -> ok end, done.

parked() -> receive never -> ok end, done.

init([]) -> {ok, #{}}.
handle_call(_, _, State) -> {reply, ok, State}.
handle_cast(_, State) -> {noreply, State}.
