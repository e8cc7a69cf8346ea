/** OpenAI's rules for the options of a Responses request: strict schemas and model-specific parameters. */
import { asObject, asString, isGiven } from '../../json';
import { firstRejection, reject } from '../../validation/Rejection';
import type { Rejection, Rule } from '../../validation/Rejection';
import { findStrictViolation } from '../../validation/findStrictViolation';
import type { VendorName } from '../../../business/ai/domain/types/VendorTypes';
import { hasCacheBreakpoints } from '../../model/cacheBreakpoints';
import { hasFixedTemperature } from '../chat/checkChatOptions';
import type { WireRequest } from '../WireSimulator';
import { contentText, inputItems, outputFormat } from './responsesBody';
import type { ResponsesBody } from './responsesBody';

interface RequestOptions {
  readonly vendor: VendorName;
  readonly model: string;
  readonly body: ResponsesBody;
}

export function checkResponsesOptions({ vendor, model }: WireRequest, body: ResponsesBody): Rejection | undefined {
  if (vendor !== 'openai' && vendor !== 'azure_openai') return undefined;
  const rules: Rule<RequestOptions>[] = [
    rejectNonStrictToolSchemas,
    rejectNonStrictOutputSchema,
    rejectJsonModeWithoutMention,
    rejectParametersOfModel,
    rejectCacheOptionsOfModel,
  ];
  return firstRejection(rules, { vendor, model, body });
}

/**
 * Tools are strict by default, but without an explicit `strict` the server adapts their schema itself. Only an explicit
 * `strict` is checked.
 */
function rejectNonStrictToolSchemas({ body }: RequestOptions): Rejection | undefined {
  for (const [index, tool] of (body.tools ?? []).entries()) {
    if (tool.type !== 'function' || tool.strict !== true) continue;
    const violation = findStrictViolation(asObject(tool.parameters));
    if (violation !== undefined) {
      return reject(`Invalid schema for function '${asString(tool.name)}': ${violation}`, {
        param: `tools[${index}].parameters`,
        code: 'invalid_function_parameters',
      });
    }
  }
  return undefined;
}

function rejectNonStrictOutputSchema({ body }: RequestOptions): Rejection | undefined {
  const format = outputFormat(body);
  if (format.type !== 'json_schema' || format.strict !== true) return undefined;
  const violation = findStrictViolation(asObject(format.schema));
  return violation === undefined
    ? undefined
    : reject(`Invalid schema for response_format '${asString(format.name)}': ${violation}`, {
        param: 'text.format.schema',
        code: 'invalid_json_schema',
      });
}

/** `json_object` requires the word "JSON" in the input. */
function rejectJsonModeWithoutMention({ body }: RequestOptions): Rejection | undefined {
  if (outputFormat(body).type !== 'json_object' || isGiven(body.previous_response_id)) return undefined;
  const mentionsJson =
    inputItems(body).some((item) => /json/i.test(contentText(item.content))) || /json/i.test(body.instructions ?? '');
  return mentionsJson
    ? undefined
    : reject(
        "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
        { param: 'input' },
      );
}

/** Reasoning models have a fixed temperature; other models don't accept reasoning parameters. */
function rejectParametersOfModel({ model, body }: RequestOptions): Rejection | undefined {
  if (isGiven(body.temperature) && body.temperature !== 1 && hasFixedTemperature(model))
    return rejectUnsupported('temperature', 'temperature');
  if (!/^(gpt-3|gpt-4|chatgpt-4)/.test(model)) return undefined;
  if (isGiven(body.reasoning?.effort)) return rejectUnsupported('reasoning.effort', 'reasoning.effort');
  if (isGiven(body.reasoning?.summary)) return rejectUnsupported('reasoning.summary', 'reasoning.summary');
  return body.include?.includes('reasoning.encrypted_content') === true
    ? reject('Encrypted content is not supported with this model.', { param: 'include' })
    : undefined;
}

/** "Supported for `gpt-5.6` and later models": openai.d.ts */
function rejectCacheOptionsOfModel({ vendor, model, body }: RequestOptions): Rejection | undefined {
  if (hasCacheBreakpoints({ vendor, model })) return undefined;
  if (isGiven(body.prompt_cache_options)) return rejectUnsupported('prompt_cache_options', 'prompt_cache_options');
  const isMarked = JSON.stringify(body.input ?? '').includes('"prompt_cache_breakpoint":{');
  return isMarked ? rejectUnsupported('prompt_cache_breakpoint', 'input') : undefined;
}

function rejectUnsupported(name: string, param: string): Rejection {
  return reject(`Unsupported parameter: '${name}' is not supported with this model.`, {
    param,
    code: 'unsupported_parameter',
  });
}
