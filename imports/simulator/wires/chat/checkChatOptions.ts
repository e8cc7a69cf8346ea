/**
 * What OpenAI refuses in the options of a chat request: parameters that a model lacks, schemas that break strict
 * mode, tools that miss.
 */
import { isGiven } from '../../json';
import { firstRefusal, refuse } from '../../validation/Refusal';
import type { Refusal, Rule } from '../../validation/Refusal';
import { strictViolation } from '../../validation/strictSchema';
import type { WireRequest } from '../WireSimulator';
import { textOf } from './chatBody';
import type { ChatBody } from './chatBody';

interface Asked {
  readonly model: string;
  readonly body: ChatBody;
}

export function checkChatOptions({ vendor, model }: WireRequest, body: ChatBody): Refusal | undefined {
  if (vendor !== 'openai' && vendor !== 'azure_openai') return undefined;
  const rules: Rule<Asked>[] = [
    toolNamesFit,
    toolsComeWithTheirOptions,
    toolSchemasAreStrict,
    answerSchemaIsStrict,
    jsonIsSpokenOf,
    reasoningModelsLackParameters,
  ];
  return firstRefusal(rules, { model, body });
}

/** Names have letters, digits, `_` and `-`, 64 at most. */
export function toolNamesFit({ body }: Asked): Refusal | undefined {
  for (const [index, tool] of (body.tools ?? []).entries()) {
    const name = tool.function?.name;
    const param = `tools[${index}].function.name`;
    if (name === undefined) continue;
    if (name.length > 64) {
      return refuse(
        `Invalid '${param}': string too long. Expected a string with maximum length 64, but got a string with length ${name.length} instead.`,
        { param, code: 'string_above_max_length' },
      );
    }
    if (!/^[a-zA-Z0-9_-]+$/.test(name)) {
      return refuse(
        `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
        {
          param,
          code: 'invalid_value',
        },
      );
    }
  }
  return undefined;
}

/** `tools` must not be empty; `tool_choice` and `parallel_tool_calls` mean nothing without it. */
export function toolsComeWithTheirOptions({ body }: Asked): Refusal | undefined {
  if (isGiven(body.tools))
    return body.tools?.length === 0
      ? refuse(
          "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
          {
            param: 'tools',
            code: 'empty_array',
          },
        )
      : undefined;
  const option = (['tool_choice', 'parallel_tool_calls'] as const).find(
    (name) => isGiven(body[name]) && body[name] !== 'none',
  );
  return option === undefined
    ? undefined
    : refuse(`Invalid value for '${option}': '${option}' is only allowed when 'tools' are specified.`, {
        param: option,
      });
}

export function toolSchemasAreStrict({ body }: Asked): Refusal | undefined {
  for (const [index, tool] of (body.tools ?? []).entries()) {
    if (tool.function?.strict !== true) continue;
    const violation = strictViolation(tool.function.parameters ?? {});
    if (violation !== undefined) {
      return refuse(`Invalid schema for function '${tool.function.name}': ${violation}`, {
        param: `tools[${index}].function.parameters`,
        code: 'invalid_function_parameters',
      });
    }
  }
  return undefined;
}

export function answerSchemaIsStrict({ body }: Asked): Refusal | undefined {
  const wanted = body.response_format?.json_schema;
  if (wanted?.strict !== true) return undefined;
  const violation = strictViolation(wanted.schema ?? {});
  return violation === undefined
    ? undefined
    : refuse(`Invalid schema for response_format '${wanted.name}': ${violation}`, { param: 'response_format' });
}

/** `json_object` wants the word in some message. */
export function jsonIsSpokenOf({ body }: Asked): Refusal | undefined {
  if (body.response_format?.type !== 'json_object' || body.messages.some((message) => /json/i.test(textOf(message))))
    return undefined;
  return refuse(
    "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    { param: 'messages' },
  );
}

/** Reasoning models take neither `max_tokens` nor `stop` (openai-chat-err400-a), nor another temperature than 1. */
export function reasoningModelsLackParameters({ model, body }: Asked): Refusal | undefined {
  if (!isReasoningModel(model)) return undefined;
  if (isGiven(body.max_tokens))
    return unsupported(
      'max_tokens',
      "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    );
  if (isGiven(body.stop)) return unsupported('stop', "'stop' is not supported with this model.");
  if (isGiven(body.temperature) && body.temperature !== 1 && fixesTemperature(model)) {
    return refuse(
      `Unsupported value: 'temperature' does not support ${body.temperature ?? ''} with this model. Only the default (1) value is supported.`,
      {
        param: 'temperature',
        code: 'unsupported_value',
      },
    );
  }
  return undefined;
}

export function isReasoningModel(model: string): boolean {
  return /^(o\d|gpt-5)/.test(model) && !model.includes('chat');
}

/** From gpt-5.1 on models may reason not at all, and then take it. */
export function fixesTemperature(model: string): boolean {
  return isReasoningModel(model) && !/^gpt-5\.\d/.test(model);
}

function unsupported(param: string, what: string): Refusal {
  return refuse(`Unsupported parameter: ${what}`, { param, code: 'unsupported_parameter' });
}
