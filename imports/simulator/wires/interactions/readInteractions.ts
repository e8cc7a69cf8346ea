/** Reads an Interactions request as a conversation. */
import type { Conversation, ToolChoice, Turn } from '../../model/Conversation';
import { asObject, asString, isArray, objectsIn } from '../../json';
import type { WireRequest } from '../WireSimulator';
import { interactionsBody, jsonFormat, stepsOf } from './interactionsBody';
import type { InteractionsBody, Step } from './interactionsBody';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';

export function readInteractions({ vendor, model, body: raw, archive }: WireRequest): Conversation {
  const body = interactionsBody(raw);
  const config = body.generation_config;
  const format = jsonFormat(body);
  // The cast is safe: what is archived went through this wire.
  const before = (archive.get(vendor, body.previous_interaction_id ?? '')?.items ?? []) as readonly unknown[];
  return omitUndefined({
    vendor,
    wire: 'interactions',
    model,
    instructions: body.system_instruction ?? '',
    turns: turnsOf([...(before as readonly Step[]), ...stepsOf(body)]),
    tools: (body.tools ?? [])
      .filter(({ type }) => type === 'function')
      .map((tool) => ({
        name: asString(tool.name),
        description: asString(tool.description),
        parameters: asObject(tool.parameters),
        async: false,
      })),
    toolChoice: toolChoiceOf(body),
    allowsParallelCalls: true,
    wantsReasoning: config?.thinking_summaries === 'auto',
    outputSchema: format && asObject(format.schema),
    maxOutputTokens: config?.max_output_tokens,
  });
}

function turnsOf(steps: readonly Step[]): readonly Turn[] {
  const names = new Map<string, string>();
  return steps.flatMap((step): Turn[] => {
    switch (step.type) {
      case 'user_input':
      case 'model_output': {
        const text = textIn(step.content);
        return text === '' ? [] : [{ type: step.type === 'user_input' ? 'user' : 'assistant', text }];
      }
      case 'function_call': {
        const { id = '', name = '' } = step;
        names.set(id, name);
        return [{ type: 'call', id, name, arguments: JSON.stringify(step.arguments ?? {}) }];
      }
      case 'function_result': {
        const { call_id: callId = '', result } = step;
        const text = typeof result === 'string' ? result : isArray(result) ? textIn(result) : JSON.stringify(result);
        const name = names.get(callId) ?? step.name ?? '';
        return [{ type: 'result', callId, name, text, failed: step.is_error === true }];
      }
      default:
        return [];
    }
  });
}

function textIn(contents: unknown): string {
  return objectsIn(contents)
    .map(({ text }) => asString(text))
    .join('');
}

function toolChoiceOf({ generation_config: config }: InteractionsBody): ToolChoice {
  const choice = config?.tool_choice;
  const { mode, tools } = typeof choice === 'object' ? (choice.allowed_tools ?? {}) : { mode: choice };
  if (mode === 'none') return { mode: 'none' };
  return omitUndefined({ mode: mode === 'any' ? 'required' : 'auto', names: tools });
}
