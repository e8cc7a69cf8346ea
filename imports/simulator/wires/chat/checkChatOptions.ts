/** OpenAI's rules for the options of a chat request: tools, strict schemas, and model-specific parameters. */
import { isGiven } from '../../json';
import { firstRejection, reject } from '../../validation/Rejection';
import type { Rejection, Rule } from '../../validation/Rejection';
import { findStrictViolation } from '../../validation/findStrictViolation';
import type { WireRequest } from '../WireSimulator';
import { textOf } from './chatBody';
import type { ChatBody } from './chatBody';

interface RequestOptions {
  readonly model: string;
  readonly body: ChatBody;
}

export function checkChatOptions({ vendor, model }: WireRequest, body: ChatBody): Rejection | undefined {
  if (vendor !== 'openai' && vendor !== 'azure_openai') return undefined;
  const rules: Rule<RequestOptions>[] = [
    rejectInvalidToolNames,
    rejectToolOptionsWithoutTools,
    rejectNonStrictToolSchemas,
    rejectNonStrictOutputSchema,
    rejectJsonModeWithoutMention,
    rejectParametersOfReasoningModels,
  ];
  return firstRejection(rules, { model, body });
}

/** Names consist of at most 64 letters, digits, `_` and `-`. */
export function rejectInvalidToolNames({ body }: RequestOptions): Rejection | undefined {
  for (const [index, tool] of (body.tools ?? []).entries()) {
    const name = tool.function?.name;
    const param = `tools[${index}].function.name`;
    if (name === undefined) continue;
    if (name.length > 64) {
      return reject(
        `Invalid '${param}': string too long. Expected a string with maximum length 64, but got a string with length ${name.length} instead.`,
        { param, code: 'string_above_max_length' },
      );
    }
    if (!/^[a-zA-Z0-9_-]+$/.test(name)) {
      return reject(
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

/** `tools` must not be empty; `tool_choice` and `parallel_tool_calls` require it. */
export function rejectToolOptionsWithoutTools({ body }: RequestOptions): Rejection | undefined {
  if (isGiven(body.tools))
    return body.tools?.length === 0
      ? reject(
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
    : reject(`Invalid value for '${option}': '${option}' is only allowed when 'tools' are specified.`, {
        param: option,
      });
}

export function rejectNonStrictToolSchemas({ body }: RequestOptions): Rejection | undefined {
  for (const [index, tool] of (body.tools ?? []).entries()) {
    if (tool.function?.strict !== true) continue;
    const violation = findStrictViolation(tool.function.parameters ?? {});
    if (violation !== undefined) {
      return reject(`Invalid schema for function '${tool.function.name}': ${violation}`, {
        param: `tools[${index}].function.parameters`,
        code: 'invalid_function_parameters',
      });
    }
  }
  return undefined;
}

export function rejectNonStrictOutputSchema({ body }: RequestOptions): Rejection | undefined {
  const format = body.response_format?.json_schema;
  if (format?.strict !== true) return undefined;
  const violation = findStrictViolation(format.schema ?? {});
  return violation === undefined
    ? undefined
    : reject(`Invalid schema for response_format '${format.name}': ${violation}`, { param: 'response_format' });
}

/** `json_object` requires the word "JSON" in some message. */
export function rejectJsonModeWithoutMention({ body }: RequestOptions): Rejection | undefined {
  if (body.response_format?.type !== 'json_object' || body.messages.some((message) => /json/i.test(textOf(message))))
    return undefined;
  return reject(
    "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    { param: 'messages' },
  );
}

/** Reasoning models accept neither `max_tokens` nor `stop` (openai-chat-err400-a), nor a temperature other than 1. */
export function rejectParametersOfReasoningModels({ model, body }: RequestOptions): Rejection | undefined {
  if (!isReasoningModel(model)) return undefined;
  if (isGiven(body.max_tokens))
    return rejectUnsupported(
      'max_tokens',
      "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    );
  if (isGiven(body.stop)) return rejectUnsupported('stop', "'stop' is not supported with this model.");
  if (isGiven(body.temperature) && body.temperature !== 1 && hasFixedTemperature(model)) {
    return reject(
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

/** From gpt-5.1 on, reasoning can be turned off, so models accept a temperature. */
export function hasFixedTemperature(model: string): boolean {
  return isReasoningModel(model) && !/^gpt-5\.\d/.test(model);
}

function rejectUnsupported(param: string, explanation: string): Rejection {
  return reject(`Unsupported parameter: ${explanation}`, { param, code: 'unsupported_parameter' });
}
