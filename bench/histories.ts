/** Long conversations, and a minimal conversion to Anthropic's format. */

export interface HistoryItem {
  readonly type: string;
  readonly role?: 'user' | 'assistant';
  readonly content?: readonly { readonly text: string }[];
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly output?: string;
}

/** @returns JSON of Responses items: questions, tool calls with results, and responses */
export function historyOfCalls(calls: number): string {
  const items = Array.from({ length: calls }, (_, index) => [
    ...(index % 4 === 0
      ? [
          {
            type: 'message',
            role: 'user',
            content: [
              { type: 'input_text', text: `How is the weather in city ${index}, and what should be worn there?` },
            ],
          },
        ]
      : []),
    ...weatherCall(index, { unit: 'celsius' }),
    ...(index % 4 === 3
      ? [
          {
            type: 'message',
            id: `msg_${index}`,
            role: 'assistant',
            status: 'completed',
            content: [
              { type: 'output_text', text: `It is mild in city ${index}; a light coat will do.`, annotations: [] },
            ],
          },
        ]
      : []),
  ]).flat();
  return JSON.stringify([
    ...items,
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And which of them was the warmest?' }] },
  ]);
}

/** @returns JSON of Responses items, 2.6 KB for each turn: a question, a tool call with its result, and a response */
export function historyOfTurns(turns: number): string {
  const sentences = (count: number): string => 'The wind turns west, and the "rain" will last an hour. '.repeat(count);
  const items = Array.from({ length: turns }, (_, index) => [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: `(${index}) ${sentences(8)}` }] },
    ...weatherCall(index, { report: sentences(16) }),
    {
      type: 'message',
      id: `msg_${index}`,
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: sentences(12), annotations: [] }],
    },
  ]).flat();
  return JSON.stringify([
    ...items,
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And now?' }] },
  ]);
}

/** @param details of the result */
function weatherCall(index: number, details: object): readonly object[] {
  const city = `City ${index}`;
  return [
    {
      type: 'function_call',
      id: `fc_${index}`,
      call_id: `call_${index}`,
      name: 'get_weather',
      arguments: JSON.stringify({ city, unit: 'celsius' }),
      status: 'completed',
    },
    {
      type: 'function_call_output',
      call_id: `call_${index}`,
      output: JSON.stringify({ city, degrees: 21, ...details }),
    },
  ];
}

export interface PlainMessage {
  readonly role: 'user' | 'assistant';
  readonly content: object[];
}

/** Handles exactly the histories of this file. */
export function historyToAnthropic(history: readonly HistoryItem[]): PlainMessage[] {
  const messages: PlainMessage[] = [];
  const add = (role: PlainMessage['role'], block: object): void => {
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(block);
    else messages.push({ role, content: [block] });
  };
  for (const item of history) {
    if (item.type === 'message')
      for (const { text } of item.content ?? []) add(item.role ?? 'user', { type: 'text', text });
    else if (item.type === 'function_call')
      add('assistant', {
        type: 'tool_use',
        id: item.call_id,
        name: item.name,
        input: JSON.parse(item.arguments ?? '{}') as unknown,
      });
    else add('user', { type: 'tool_result', tool_use_id: item.call_id, content: item.output });
  }
  return messages;
}
