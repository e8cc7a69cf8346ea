/** The messages that a stored run has added to its thread. */
import type { FunctionCallOutputItem, Item } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { AgUiMessage } from './AgUiMessages';
import { toWireCallId, turnMessageId } from './agUiIds';
import { reasoningOfItems, textOfItems, turnMetadata } from './turnItems';

/** @param items the run's output: what its transcript holds after its input */
export function toAgUiMessages(executionId: string, items: readonly Item[]): readonly AgUiMessage[] {
  const results = new Map<string, string>();
  for (const item of items) if (isResult(item)) results.set(item.call_id, textOfOutput(item));
  return splitTurns(items).flatMap((turn, index) => toTurnMessages(executionId, index + 1, turn, results));
}

/** Outputs of calls separate what the model wrote in one turn from what it wrote in the next. */
function splitTurns(items: readonly Item[]): readonly (readonly Item[])[] {
  const turns: Item[][] = [];
  let turn: Item[] | undefined;
  for (const item of items) {
    const isOutput = item.type === 'function_call_output' || (item.type === 'message' && item.role !== 'assistant');
    if (isOutput) turn = undefined;
    else if (turn === undefined) turns.push((turn = [item]));
    else turn.push(item);
  }
  return turns;
}

function toTurnMessages(
  executionId: string,
  iteration: number,
  turn: readonly Item[],
  results: ReadonlyMap<string, string>,
): readonly AgUiMessage[] {
  const id = turnMessageId(executionId, iteration);
  const [text, reasoning, metadata] = [textOfItems(turn), reasoningOfItems(turn), turnMetadata(turn)];
  const calls = turn.flatMap((item) =>
    item.type === 'function_call'
      ? [
          {
            id: toWireCallId({ executionId, callId: item.call_id }),
            type: 'function' as const,
            function: { name: item.name, arguments: item.arguments },
          },
        ]
      : [],
  );
  return [
    ...(reasoning === '' ? [] : [{ id: `${id}-reasoning-1`, role: 'reasoning' as const, content: reasoning }]),
    {
      id,
      role: 'assistant',
      ...(text === '' && calls.length > 0 ? {} : { content: text }),
      ...(calls.length === 0 ? {} : { toolCalls: calls }),
      ...(metadata === undefined ? {} : { metadata }),
    },
    ...turn.flatMap((item): readonly AgUiMessage[] => {
      const content = item.type === 'function_call' ? results.get(item.call_id) : undefined;
      if (item.type !== 'function_call' || content === undefined) return [];
      const toolCallId = toWireCallId({ executionId, callId: item.call_id });
      return [{ id: `${toolCallId}:result`, role: 'tool', toolCallId, content }];
    }),
  ];
}

/** An acknowledgement of a non-blocking call is no result. */
function isResult(item: Item): item is FunctionCallOutputItem {
  return item.type === 'function_call_output' && item.status !== 'in_progress';
}

function textOfOutput({ output }: FunctionCallOutputItem): string {
  if (typeof output === 'string') return output;
  return output.map((part) => (part.type === 'input_text' ? part.text : `[${part.type}]`)).join('\n');
}
