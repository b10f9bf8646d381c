% The account of a program of Erlang: what it says of its own processes before it dies.
%
% The account is a file of JSON Lines, named by $KCORE_TRUTH. What erlang:process_info says of each process, and ets:info of
% each table, stands beside it, in processes.jsonl and tables.jsonl; messages as io:format("~0tp") prints them are in the
% former.

-module(truth).
-export([tell/1]).

% Tells of all processes and tables but for some processes, which go on running.
tell(Without) ->
    erlang:system_flag(backtrace_depth, 120),
    Told = [process(Pid) || Pid <- processes(), not lists:member(Pid, [self() | Without])],
    ok = write("processes.jsonl", [Line || Line <- Told, Line =/= gone]),
    ok = write("tables.jsonl", [Line || T <- ets:all(), Line <- [table(T)], Line =/= gone]),
    Argv = lists:join(",", [text(Word) || Word <- words()]),
    ok = write(os:getenv("KCORE_TRUTH", "/dev/stdout"),
        [["{\"pid\":", os:getpid(), "}"],
         ["{\"argv\":[", Argv, "]}"],
         "{\"done\":true}"]).

write(Path, Lines) ->
    file:write_file(Path, unicode:characters_to_binary([[Line, "\n"] || Line <- Lines])).

words() ->
    {ok, File} = file:open("/proc/self/cmdline", [read, raw, binary]),
    {ok, Bytes} = file:read(File, 65536),
    ok = file:close(File),
    [binary_to_list(Word) || Word <- binary:split(Bytes, <<0>>, [global, trim])].

process(Pid) ->
    Keys = [registered_name, status, current_function, initial_call, message_queue_len, messages,
            current_stacktrace, total_heap_size, reductions],
    case process_info(Pid, Keys) of
        undefined -> gone;
        Info -> object([{pid, text(pid_to_list(Pid))} | [pair(Pair) || Pair <- Info]])
    end.

pair({registered_name, []}) -> {registered, "null"};
pair({registered_name, Name}) -> {registered, text(atom_to_list(Name))};
pair({status, Status}) -> {state, text(atom_to_list(Status))};
pair({current_function, Mfa}) -> {current, mfa(Mfa)};
pair({initial_call, Mfa}) -> {initial, mfa(Mfa)};
pair({message_queue_len, Length}) -> {messages, integer_to_list(Length)};
pair({messages, All}) -> {queue, list([text(io_lib:format("~0tp", [It])) || It <- All])};
pair({current_stacktrace, Frames}) -> {stack, list([frame(Frame) || Frame <- Frames])};
pair({total_heap_size, Words}) -> {heap_bytes, integer_to_list(Words * 8)};
pair({reductions, Count}) -> {reductions, integer_to_list(Count)}.

frame({Module, Function, Arity, Place}) ->
    File = case proplists:get_value(file, Place) of undefined -> "null"; Path -> text(Path) end,
    Line = integer_to_list(proplists:get_value(line, Place, 0)),
    object([{function, mfa({Module, Function, Arity})}, {file, File}, {line, Line}]).

mfa({Module, Function, Arity}) ->
    text(io_lib:format("~0p:~0p/~b", [Module, Function, Arity]));
mfa(_) ->
    "null".

table(Table) ->
    case ets:info(Table) of
        undefined ->
            gone;
        Info ->
            Get = fun(Key) -> proplists:get_value(Key, Info) end,
            object([{name, text(atom_to_list(Get(name)))},
                    {holds, text(atom_to_list(Get(type)))},
                    {owner, text(pid_to_list(Get(owner)))},
                    {objects, integer_to_list(Get(size))},
                    {bytes, integer_to_list(Get(memory) * erlang:system_info(wordsize))},
                    {key_position, integer_to_list(Get(keypos))}])
    end.

object(Pairs) ->
    Members = [["\"", atom_to_list(Key), "\":", Value] || {Key, Value} <- Pairs],
    ["{", lists:join(",", Members), "}"].

list(Parts) ->
    ["[", lists:join(",", Parts), "]"].

text(Characters) ->
    ["\"", [escaped(Character) || Character <- unicode:characters_to_list(Characters)], "\""].

escaped(Character) when Character < 32; Character =:= $"; Character =:= $\\ ->
    io_lib:format("\\u~4.16.0b", [Character]);
escaped(Character) ->
    Character.
