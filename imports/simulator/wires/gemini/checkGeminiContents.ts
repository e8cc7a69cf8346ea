/**
 * Gemini's rules for contents that are valid according to its schema,
 * https://ai.google.dev/gemini-api/docs/function-calling.
 */
import type { VendorName } from '../../../business/ai/domain/types/VendorTypes';
import { firstRejection, reject } from '../../validation/Rejection';
import type { Rejection, Rule } from '../../validation/Rejection';
import type { WireRequest } from '../WireSimulator';
import { callsIn, geminiBody, geminiVersion, isModelTurn, partsOf, responsesIn } from './geminiBody';
import type { Content, GeminiBody } from './geminiBody';
import { isOwnSignature } from './thoughtSignature';

interface Transcript {
  readonly vendor: VendorName;
  readonly model: string;
  readonly body: GeminiBody;
}

const RULES: readonly Rule<Transcript>[] = [
  rejectMissingContents,
  rejectEmptyParts,
  rejectInvalidFunctionNames,
  rejectUnnamedResponses,
  rejectMisplacedCalls,
  rejectMisplacedResponses,
  rejectUnansweredCalls,
  rejectMismatchedNames,
  rejectMissingSignatures,
  rejectJsonWithFunctions,
];

export function checkGeminiContents({ vendor, model, body }: WireRequest): Rejection | undefined {
  return firstRejection(RULES, { vendor, model, body: geminiBody(body) });
}

/**
 * Signatures must be issued by this vendor, and stay on their part. Separate from the other rules, because traffic
 * that was recorded at the real vendor is exempt.
 */
export function checkThoughtSignatures({ vendor, body }: WireRequest): Rejection | undefined {
  const forged = geminiBody(body).contents.some((content) =>
    partsOf(content).some((part) => part.thoughtSignature !== undefined && !isOwnSignature(vendor, part)),
  );
  return forged ? reject('Corrupted thought signature.') : undefined;
}

function rejectMissingContents({ body }: Transcript): Rejection | undefined {
  const count = (body.contents as readonly Content[] | undefined)?.length ?? 0;
  return count === 0 ? reject('* GenerateContentRequest.contents: contents is not specified\n') : undefined;
}

function rejectEmptyParts({ body }: Transcript): Rejection | undefined {
  const index = body.contents.findIndex((content) => partsOf(content).length === 0);
  return index < 0
    ? undefined
    : reject(`* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.\n`);
}

/** github.com/kaitranntt/ccs/issues/25 */
function rejectInvalidFunctionNames({ body }: Transcript): Rejection | undefined {
  for (const [toolIndex, tool] of (body.tools ?? []).entries()) {
    const index = (tool.functionDeclarations ?? []).findIndex(
      ({ name = '' }) => !/^[a-zA-Z_][\w.:-]{0,63}$/.test(name),
    );
    if (index >= 0) {
      const rule =
        'Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-),' +
        ' with a maximum length of 64.';
      return reject(
        `* GenerateContentRequest.tools[${toolIndex}].function_declarations[${index}].name: Invalid function name. ${rule}\n`,
      );
    }
  }
  return undefined;
}

function rejectUnnamedResponses({ body }: Transcript): Rejection | undefined {
  for (const [index, content] of body.contents.entries()) {
    const at = partsOf(content).findIndex((part) => part.functionResponse !== undefined && !part.functionResponse.name);
    if (at >= 0)
      return reject(
        `* GenerateContentRequest.contents[${index}].parts[${at}].function_response.name: Name cannot be empty.\n`,
      );
  }
  return undefined;
}

/** github.com/google-gemini/gemini-cli/issues/26486 */
function rejectMisplacedCalls({ body: { contents } }: Transcript): Rejection | undefined {
  const misplaced = contents.some((content, index) => {
    const before = contents[index - 1];
    return isModelTurn(content) && callsIn(content).length > 0 && (before === undefined || isModelTurn(before));
  });
  return misplaced
    ? reject(
        'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
      )
    : undefined;
}

/** Contents that follow each other and hold only results count as one: clients send parallel results separately. */
function joinResponses(contents: readonly Content[]): readonly Content[] {
  const joined: Content[] = [];
  for (const content of contents) {
    const before = joined.at(-1);
    if (before !== undefined && holdsResponsesOnly(before) && holdsResponsesOnly(content))
      joined[joined.length - 1] = { ...before, parts: [...partsOf(before), ...partsOf(content)] };
    else joined.push(content);
  }
  return joined;
}

function holdsResponsesOnly(content: Content): boolean {
  return partsOf(content).length > 0 && partsOf(content).length === responsesIn(content).length;
}

function rejectMisplacedResponses({ body }: Transcript): Rejection | undefined {
  const contents = joinResponses(body.contents);
  const misplaced = contents.some((content, index) => {
    const before = contents[index - 1];
    return responsesIn(content).length > 0 && (before === undefined || callsIn(before).length === 0);
  });
  return misplaced
    ? reject('Please ensure that function response turn comes immediately after a function call turn.')
    : undefined;
}

/** github.com/google-gemini/gemini-cli/issues/3814 */
function rejectUnansweredCalls({ body }: Transcript): Rejection | undefined {
  const contents = joinResponses(body.contents);
  const uneven = contents.some((content, index) => {
    const next = contents[index + 1];
    return (
      callsIn(content).length > 0 && callsIn(content).length !== (next === undefined ? 0 : responsesIn(next).length)
    );
  });
  return uneven
    ? reject(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      )
    : undefined;
}

/**
 * Each response must have the name of a call in the turn before, and its id where both have one
 * (github.com/archestra-ai/archestra/pull/7583).
 */
function rejectMismatchedNames({ body }: Transcript): Rejection | undefined {
  const contents = joinResponses(body.contents);
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
  return mismatched ? reject('Request contains an invalid argument.') : undefined;
}

/**
 * From Gemini 3 on, the first call of each step of the current turn must keep its signature,
 * https://ai.google.dev/gemini-api/docs/thought-signatures.
 */
function rejectMissingSignatures({ model, body: { contents } }: Transcript): Rejection | undefined {
  if (geminiVersion(model) < 3 || model.includes('image')) return undefined;
  const start = contents.findLastIndex((content) => !isModelTurn(content) && responsesIn(content).length === 0);
  for (const [index, content] of contents.entries()) {
    const first = partsOf(content).find((part) => part.functionCall !== undefined);
    if (index <= start || first === undefined || first.thoughtSignature !== undefined) continue;
    return reject(
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

/** Before Gemini 3, structured output and functions exclude each other. */
function rejectJsonWithFunctions({ model, body }: Transcript): Rejection | undefined {
  const version = geminiVersion(model);
  const declares = (body.tools ?? []).some((tool) => (tool.functionDeclarations ?? []).length > 0);
  if (version === 0 || version >= 3 || !declares || body.generationConfig?.responseMimeType !== 'application/json')
    return undefined;
  return reject("Function calling with a response mime type: 'application/json' is unsupported");
}
