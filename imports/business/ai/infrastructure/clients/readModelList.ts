/** Reads a vendor's list of models: `{ data: [{ id }] }` in OpenAI's form, `{ models: [{ name }] }` in Google's. */
import { LLMStreamError } from '../../domain/errors/LLMErrors';
import { fieldsOf, isList } from '../../domain/util/json';

const MAX_MODELS = 2_000;
const MAX_NAME_LENGTH = 256;

/** @throws LLMStreamError if the body is not JSON */
export function readModelList(body: string): readonly string[] {
  const { data, models } = fieldsOf(parse(body));
  const entries = isList(data) ? data : isList(models) ? models : [];
  const names = entries.map((entry) => {
    const { id, name } = fieldsOf(entry);
    return typeof id === 'string' ? id : typeof name === 'string' ? name.replace(/^models\//, '') : '';
  });
  return names
    .filter((name) => name !== '' && name.length <= MAX_NAME_LENGTH && !/[\s\p{C}]/u.test(name))
    .slice(0, MAX_MODELS);
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new LLMStreamError(`The vendor's list of models is not JSON (${body.length} characters).`, { cause });
  }
}
