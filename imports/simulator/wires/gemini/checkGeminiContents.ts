/**
 * What Gemini refuses in contents that have the right shape,
 * https://ai.google.dev/gemini-api/docs/function-calling.
 */
import type { VendorName } from '../../../business/ai/domain/types/VendorTypes';
import { firstRefusal, refuse } from '../../validation/Refusal';
import type { Refusal, Rule } from '../../validation/Refusal';
import type { WireRequest } from '../WireSimulator';
import { callsIn, geminiBody, geminiVersion, isModelTurn, partsOf, responsesIn } from './geminiBody';
import type { Content, GeminiBody } from './geminiBody';
import { isOwnSignature } from './thoughtSeal';

interface Transcript {
  readonly vendor: VendorName;
  readonly model: string;
  readonly body: GeminiBody;
}

const RULES: readonly Rule<Transcript>[] = [
  contentsAreGiven,
  partsAreGiven,
  functionNamesFit,
  responsesAreNamed,
  callsFollowAUserTurn,
  responsesFollowTheirCalls,
  callsAreAnswered,
  namesMatch,
  callsKeepTheirSignature,
  jsonGoesWithoutFunctions,
];

export function checkGeminiContents({ vendor, model, body }: WireRequest): Refusal | undefined {
  return firstRefusal(RULES, { vendor, model, body: geminiBody(body) });
}

/**
 * Signatures must be this vendor's own, on the part that they were given with. Apart from the other rules, for
 * traffic recorded at the real vendor.
 */
export function checkThoughtSeals({ vendor, body }: WireRequest): Refusal | undefined {
  const forged = geminiBody(body).contents.some((content) =>
    partsOf(content).some((part) => part.thoughtSignature !== undefined && !isOwnSignature(vendor, part)),
  );
  return forged ? refuse('Corrupted thought signature.') : undefined;
}

function contentsAreGiven({ body }: Transcript): Refusal | undefined {
  const given = (body.contents as readonly Content[] | undefined)?.length ?? 0;
  return given === 0 ? refuse('* GenerateContentRequest.contents: contents is not specified\n') : undefined;
}

function partsAreGiven({ body }: Transcript): Refusal | undefined {
  const index = body.contents.findIndex((content) => partsOf(content).length === 0);
  return index < 0
    ? undefined
    : refuse(`* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.\n`);
}

/** github.com/kaitranntt/ccs/issues/25 */
function functionNamesFit({ body }: Transcript): Refusal | undefined {
  for (const [place, tool] of (body.tools ?? []).entries()) {
    const index = (tool.functionDeclarations ?? []).findIndex(({ name }) => !/^[a-zA-Z_][\w.:-]{0,63}$/.test(name));
    if (index >= 0) {
      const rule =
        'Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-),' +
        ' with a maximum length of 64.';
      return refuse(
        `* GenerateContentRequest.tools[${place}].function_declarations[${index}].name: Invalid function name. ${rule}\n`,
      );
    }
  }
  return undefined;
}

function responsesAreNamed({ body }: Transcript): Refusal | undefined {
  for (const [index, content] of body.contents.entries()) {
    const at = partsOf(content).findIndex((part) => part.functionResponse !== undefined && !part.functionResponse.name);
    if (at >= 0)
      return refuse(
        `* GenerateContentRequest.contents[${index}].parts[${at}].function_response.name: Name cannot be empty.\n`,
      );
  }
  return undefined;
}

/** github.com/google-gemini/gemini-cli/issues/26486 */
function callsFollowAUserTurn({ body: { contents } }: Transcript): Refusal | undefined {
  const misplaced = contents.some((content, index) => {
    const before = contents[index - 1];
    return isModelTurn(content) && callsIn(content).length > 0 && (before === undefined || isModelTurn(before));
  });
  return misplaced
    ? refuse(
        'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
      )
    : undefined;
}

function responsesFollowTheirCalls({ body: { contents } }: Transcript): Refusal | undefined {
  const misplaced = contents.some((content, index) => {
    const before = contents[index - 1];
    return responsesIn(content).length > 0 && (before === undefined || callsIn(before).length === 0);
  });
  return misplaced
    ? refuse('Please ensure that function response turn comes immediately after a function call turn.')
    : undefined;
}

/** github.com/google-gemini/gemini-cli/issues/3814 */
function callsAreAnswered({ body: { contents } }: Transcript): Refusal | undefined {
  const uneven = contents.some((content, index) => {
    const next = contents[index + 1];
    return (
      callsIn(content).length > 0 && callsIn(content).length !== (next === undefined ? 0 : responsesIn(next).length)
    );
  });
  return uneven
    ? refuse(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      )
    : undefined;
}

/**
 * Each response has the name, and the id where both have one, of a call in the turn before
 * (github.com/archestra-ai/archestra/pull/7583).
 */
function namesMatch({ body: { contents } }: Transcript): Refusal | undefined {
  const mismatched = contents.some((content, index) => {
    const open = [...callsIn(contents[index - 1] ?? {})];
    return responsesIn(content).some((response) => {
      const at = open.findIndex(
        (call) =>
          call.name === response.name &&
          (call.id === undefined || response.id === undefined || call.id === response.id),
      );
      if (at >= 0) open.splice(at, 1);
      return at < 0;
    });
  });
  return mismatched ? refuse('Request contains an invalid argument.') : undefined;
}

/**
 * From Gemini 3 on, the first call of each step of the current turn keeps its signature,
 * https://ai.google.dev/gemini-api/docs/thought-signatures.
 */
function callsKeepTheirSignature({ model, body: { contents } }: Transcript): Refusal | undefined {
  if (geminiVersion(model) < 3 || model.includes('image')) return undefined;
  const start = contents.findLastIndex((content) => !isModelTurn(content) && responsesIn(content).length === 0);
  for (const [index, content] of contents.entries()) {
    const first = partsOf(content).find((part) => part.functionCall !== undefined);
    if (index <= start || first === undefined || first.thoughtSignature !== undefined) continue;
    return refuse(
      [
        'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing',
        'thought_signature may lead to degraded model performance. Additional data, function call',
        `\`default_api:${first.functionCall?.name ?? ''}\` , position ${index + 1}.`,
        'Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.',
      ].join(' '),
    );
  }
  return undefined;
}

/** Before Gemini 3 structured output and functions exclude each other. */
function jsonGoesWithoutFunctions({ model, body }: Transcript): Refusal | undefined {
  const version = geminiVersion(model);
  const declares = (body.tools ?? []).some((tool) => (tool.functionDeclarations ?? []).length > 0);
  if (version === 0 || version >= 3 || !declares || body.generationConfig?.responseMimeType !== 'application/json')
    return undefined;
  return refuse("Function calling with a response mime type: 'application/json' is unsupported");
}
