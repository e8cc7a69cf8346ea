/**
 * Refuses parts that are malformed or unknown in a request for another vendor, which would not see them. Google judges
 * its own requests. https://ai.google.dev/api/caching#Part
 */
import { asList } from './asList';
import { requireParts } from './readContents';
import { fromMediaPart } from '../media';
import { camelCaseKeys } from '../googleTypes';
import { kindOfPart } from '../response/items';
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import { fieldsOf, isList, isObject } from '../../../../domain/util/json';
import type { GooglePart } from '../googleTypes';

/** @throws LLMInvalidRequestError with the path of the first such part */
export function checkParts(body: unknown): void {
  const { contents, systemInstruction } = camelCaseKeys(fieldsOf(body));
  checkPartsOf(systemInstruction, 'systemInstruction');
  const list = asList(contents);
  if (isList(list)) list.forEach((content, index) => checkPartsOf(content, `contents[${index}]`));
}

function checkPartsOf(content: unknown, path: string): void {
  if (!isObject(content)) return;
  for (const [index, part] of requireParts(content.parts, path).entries()) {
    const problem = problemOf(part);
    if (problem === undefined) continue;
    const at = `${path}.parts[${index}]`;
    throw new LLMInvalidRequestError(`"${at}" is not a part of a content: ${problem}.`, { path: at });
  }
}

/** Parts of Google's own tools, and signatures without content. Other vendors have no use for them. */
const OWN_FIELDS = ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse', 'thoughtSignature'];

function problemOf(part: GooglePart): string | undefined {
  if (kindOfPart(part) !== 'other' || OWN_FIELDS.some((field) => isPresent(part[field]))) return undefined;
  if (isPresent(part.inlineData))
    return fromMediaPart(part) === undefined ? '"inlineData" must have a mimeType and base64 data' : undefined;
  if (isPresent(part.fileData)) return fromMediaPart(part) === undefined ? '"fileData" must have a fileUri' : undefined;
  if (isPresent(part.functionCall)) return '"functionCall" must have a name';
  if (isPresent(part.functionResponse))
    return typeof fieldsOf(part.functionResponse).name === 'string' ? undefined : '"functionResponse" must have a name';
  if (isPresent(part.text)) return '"text" must be a string';
  return 'it has none of the fields text, inlineData, fileData, functionCall and functionResponse';
}

/** Some clients write absent fields as null. */
function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}
