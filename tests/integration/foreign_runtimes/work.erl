%% SPDX-License-Identifier: MIT
%% Two processes with tables, large binaries and regular expressions, until the node is ended.
-module(work).
-export([start/0]).

deeper(0) -> [<<1:800>>];
deeper(Left) -> [Left | deeper(Left - 1)].

loop(Number) ->
	Text = binary:copy(<<"abc">>, 200 + Number rem 1000),
	Table = ets:new(table, []),
	[ets:insert(Table, {I, Text, deeper(5)}) || I <- lists:seq(1, 50)],
	ets:delete(Table),
	nomatch = re:run(Text, "(abc)+x"),
	_ = term_to_binary(lists:seq(1, 3000)),
	loop(Number + 1).

start() ->
	io:format("ready~n"),
	[spawn_link(fun() -> loop(0) end) || _ <- [1, 2]],
	receive never -> ok end.
