/**
 * The objects at the vendor that a response has made, and that its user may name from then on. Files that were only
 * found, as by a search in a vector store, are not among them: their user could delete them.
 */
import { fieldsOf, isList, isObject } from '../util/json';
import type { GenerateOptions } from '../types/LLMTypes';
import type { LLMResponse } from '../types/ResponsesAPITypes';

/** Deeper than any vendor nests what its tools made. */
const MAX_DEPTH = 12;

export function createdObjects({ vendor }: Pick<GenerateOptions, 'vendor'>, response: LLMResponse): readonly string[] {
  const found = new Set<string>();
  const add = (id: unknown): void => {
    if (typeof id === 'string' && id !== '') found.add(id);
  };
  if (isObject(vendor?.anthropic?.thread)) add(response.id);
  add(fieldsOf(response.vendor.fields?.container).id);
  visit(response.output, add, 0);
  return [...found];
}

function visit(value: unknown, add: (id: unknown) => void, depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (isList(value)) {
    for (const each of value) if (typeof each === 'object') visit(each, add, depth + 1);
    return;
  }
  if (!isObject(value)) return;
  const { type } = value;
  if (typeof type === 'string') for (const field of ID_FIELDS[type] ?? []) add(value[field]);
  for (const key of Object.keys(value)) {
    const each = value[key];
    // The model decides what is in there.
    if (typeof each !== 'object' || CHOSEN_BY_MODEL.has(key)) continue;
    if (key === 'audio' || key === 'environment') add(fieldsOf(each)[key === 'audio' ? 'id' : 'container_id']);
    visit(each, add, depth + 1);
  }
}

const ID_FIELDS: Readonly<Partial<Record<string, readonly string[]>>> = {
  code_interpreter_call: ['container_id'],
  image_generation_call: ['id'],
  container_file_citation: ['container_id', 'file_id'],
  file_path: ['file_id'],
  bash_code_execution_output: ['file_id'],
  code_execution_output: ['file_id'],
};

const CHOSEN_BY_MODEL: ReadonlySet<string> = new Set(['input', 'arguments', 'args', 'action', 'queries', 'results']);
