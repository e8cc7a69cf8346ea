/** Converts conversations between the AI SDK's UI messages and items. */
import { turnsOf } from '../../business/ai/application/services/replayRun';
import { NO_USAGE, outputTextOf } from '../../business/ai/domain/entities/Response';
import { isErrorState } from '../../business/ai/domain/entities/Tool';
import type { AgentEvent, AgentEventBody } from '../../business/ai/domain/types/AgentEvents';
import type { Item, LLMResponse } from '../../business/ai/domain/types/ResponsesAPITypes';
import { readUIMessages } from './readUIMessages';
import { reduceUIMessage } from './reduceUIMessage';
import { toItems } from './toItems';
import { UIMessageEncoder } from './UIMessageEncoder';
import type { UIMessage } from './UIMessages';
import { userParts } from './userParts';

/**
 * The input of a run that continues the conversation.
 * @param messages as `useChat` sends them
 * @throws LLMInvalidRequestError with the path of the invalid value, such as `messages[0].parts[1].type`
 */
export function fromUIMessages(messages: unknown): readonly Item[] {
  return toItems(readUIMessages(messages));
}

/**
 * A stored conversation as `useChat` shows it. What the model wrote between two user messages is one message.
 * Instructions of the operator are left out.
 */
export function toUIMessages(items: readonly Item[]): UIMessage[] {
  const messages: UIMessage[] = [];
  let answer: Item[] = [];
  const endAnswer = (): void => {
    if (answer.length > 0) messages.push(answerMessage(answer, `message-${messages.length + 1}`));
    answer = [];
  };
  for (const item of items) {
    if (item.type !== 'message' || item.role === 'assistant') answer.push(item);
    else if (item.role === 'user') {
      endAnswer();
      const id = item.id ?? `message-${messages.length + 1}`;
      messages.push({ id, role: 'user', parts: userParts(item) });
    }
  }
  endAnswer();
  return messages;
}

/** The same encoder as for a run, so that a message looks the same whether it was streamed or loaded. */
function answerMessage(items: readonly Item[], id: string): UIMessage {
  const encoder = new UIMessageEncoder({ messageId: id });
  const { metadata: _, ...message } = reduceUIMessage(eventsOf(items).flatMap((event) => encoder.push(event)));
  return message;
}

function eventsOf(items: readonly Item[]): readonly AgentEvent[] {
  const results = new Map(
    items.flatMap((item) =>
      item.type === 'function_call_output' && item.status !== 'in_progress' ? [[item.call_id, item]] : [],
    ),
  );
  const bodies: AgentEventBody[] = [];
  for (const [index, { output }] of turnsOf(items).entries()) {
    const iteration = index + 1;
    bodies.push(
      { type: 'iteration:start', iteration },
      { type: 'llm:response', iteration, response: responseOf(output) },
    );
    for (const item of output) {
      if (item.type !== 'function_call') continue;
      const { call_id: callId, name } = item;
      const call = { callId, name };
      bodies.push({ type: 'tool:pending', ...call, call_id: callId, arguments: item.arguments, blocking: true });
      const result = results.get(callId);
      if (result === undefined) continue;
      const text = typeof result.output === 'string' ? result.output : JSON.stringify(result.output);
      const executionTime = 0;
      bodies.push(
        isErrorState(result.state)
          ? {
              type: 'tool:failed',
              ...call,
              executionTime,
              error: { failure: 'threw', message: text.replace(/^Error: /, '') },
            }
          : { type: 'tool:completed', ...call, executionTime, result: text },
      );
    }
  }
  return bodies.map((body, index) => ({ executionId: '', at: 0, seq: index + 1, ...body }));
}

function responseOf(output: readonly Item[]): LLMResponse {
  return {
    id: '',
    object: 'response',
    created_at: 0,
    status: 'completed',
    model: '',
    output,
    output_text: outputTextOf(output),
    usage: NO_USAGE,
    vendor: { name: '', wire: 'responses', finish_reason: null, warnings: [], losses: [] },
  };
}
