/**
 * What OpenAI refuses in the options of a Responses request: parameters that a model lacks, and schemas that break
 * strict mode.
 */
import { asObject, asString, isGiven } from '../../json';
import { firstRefusal, refuse } from '../../validation/Refusal';
import type { Refusal, Rule } from '../../validation/Refusal';
import { strictViolation } from '../../validation/strictSchema';
import { fixesTemperature } from '../chat/checkChatOptions';
import type { WireRequest } from '../WireSimulator';
import { contentText, inputItems, wantedFormat } from './responsesBody';
import type { ResponsesBody } from './responsesBody';

interface Asked {
  readonly model: string;
  readonly body: ResponsesBody;
}

export function checkResponsesOptions({ vendor, model }: WireRequest, body: ResponsesBody): Refusal | undefined {
  if (vendor !== 'openai' && vendor !== 'azure_openai') return undefined;
  const rules: Rule<Asked>[] = [toolSchemasAreStrict, answerSchemaIsStrict, jsonIsSpokenOf, modelsHaveTheirParameters];
  return firstRefusal(rules, { model, body });
}

/**
 * Tools are strict unless they say otherwise; without the word the server closes their schema itself, so only an
 * explicit one is checked.
 */
function toolSchemasAreStrict({ body }: Asked): Refusal | undefined {
  for (const [index, tool] of (body.tools ?? []).entries()) {
    if (tool.type !== 'function' || tool.strict !== true) continue;
    const violation = strictViolation(asObject(tool.parameters));
    if (violation !== undefined) {
      return refuse(`Invalid schema for function '${asString(tool.name)}': ${violation}`, {
        param: `tools[${index}].parameters`,
        code: 'invalid_function_parameters',
      });
    }
  }
  return undefined;
}

function answerSchemaIsStrict({ body }: Asked): Refusal | undefined {
  const format = wantedFormat(body);
  if (format.type !== 'json_schema' || format.strict !== true) return undefined;
  const violation = strictViolation(asObject(format.schema));
  return violation === undefined
    ? undefined
    : refuse(`Invalid schema for response_format '${asString(format.name)}': ${violation}`, {
        param: 'text.format.schema',
        code: 'invalid_json_schema',
      });
}

/** `json_object` wants the word in the input. */
function jsonIsSpokenOf({ body }: Asked): Refusal | undefined {
  if (wantedFormat(body).type !== 'json_object' || isGiven(body.previous_response_id)) return undefined;
  const spoken =
    inputItems(body).some((item) => /json/i.test(contentText(item.content))) || /json/i.test(body.instructions ?? '');
  return spoken
    ? undefined
    : refuse(
        "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
        { param: 'input' },
      );
}

/** Reasoning models fix the temperature, the others can't reason. */
function modelsHaveTheirParameters({ model, body }: Asked): Refusal | undefined {
  if (isGiven(body.temperature) && body.temperature !== 1 && fixesTemperature(model))
    return unsupported('temperature', 'temperature');
  if (!/^(gpt-3|gpt-4|chatgpt-4)/.test(model)) return undefined;
  if (isGiven(body.reasoning?.effort)) return unsupported('reasoning.effort', 'reasoning.effort');
  if (isGiven(body.reasoning?.summary)) return unsupported('reasoning.summary', 'reasoning.summary');
  return body.include?.includes('reasoning.encrypted_content') === true
    ? refuse('Encrypted content is not supported with this model.', { param: 'include' })
    : undefined;
}

function unsupported(name: string, param: string): Refusal {
  return refuse(`Unsupported parameter: '${name}' is not supported with this model.`, {
    param,
    code: 'unsupported_parameter',
  });
}
