/** Normalizes items that a server creates and reads back, and the origin of opaque content. */
import { field, freeze, optionalText, otherFields, record, requiredName, requiredText } from './fields';
import { normalizeOutput } from './normalizePart';
import { describe, invalid, isList } from './PlainReader';
import { SCHEME_OF_WIRE } from '../../../domain/types/VendorTypes';
import type { PlainRecord } from './PlainReader';
import type { HostedItem } from '../../../domain/types/ResponsesAPITypes';
import type { Origin } from '../../../domain/types/VendorTypes';

/** Preserves every field, and accepts types that are newer than this code. */
export function hostedItem(source: PlainRecord, path: string): HostedItem {
  originOf(source, path);
  optionalText(source, 'id', path);
  optionalText(source, 'status', path);
  if (typeof source.type === 'string') CHECKS.get(source.type)?.(source, path);
  // HostedItem is open to newer types.
  return freeze({ ...otherFields(source, [], path) }) as HostedItem;
}

/** Items that become functions, calls and results of functions for vendors without them. */
const CHECKS: ReadonlyMap<string, (source: PlainRecord, path: string) => void> = new Map([
  [
    'custom_tool_call',
    (source, path) => {
      requiredName(source, 'call_id', path);
      requiredText(source, 'name', path);
      requiredText(source, 'input', path);
    },
  ],
  [
    'custom_tool_call_output',
    (source, path) => {
      requiredName(source, 'call_id', path);
      normalizeOutput(source.output, `${path}.output`);
    },
  ],
  ['additional_tools', checkTools],
]);

/** Namespaces hold tools. */
function checkTools({ tools }: PlainRecord, path: string): void {
  if (!isList(tools)) throw invalid(`${path}.tools`, `must be an array of tools, not ${describe(tools)}`);
  for (const [index, each] of tools.entries()) {
    const at = `${path}.tools[${index}]`;
    const tool = record(each, at);
    const type = optionalText(tool, 'type', at);
    if (type !== 'function' && type !== 'custom' && type !== 'namespace') continue;
    requiredName(tool, 'name', at);
    optionalText(tool, 'description', at);
    if (tool.parameters !== undefined && tool.parameters !== null) record(tool.parameters, `${at}.parameters`);
    if (type === 'namespace') checkTools(tool, at);
  }
}

export function originOf(source: PlainRecord, path: string): Origin | undefined {
  if (source.origin === undefined || source.origin === null) return undefined;
  const at = `${path}.origin`;
  const origin = record(source.origin, at);
  const wire = requiredName(origin, 'wire', at);
  if (!isWire(wire)) throw invalid(`${at}.wire`, `must be one of: ${Object.keys(SCHEME_OF_WIRE).join(', ')}`);
  return freeze({
    wire,
    ...field('vendor', optionalText(origin, 'vendor', at)),
    ...field('model', optionalText(origin, 'model', at)),
  });
}

function isWire(word: string): word is Origin['wire'] {
  return Object.hasOwn(SCHEME_OF_WIRE, word);
}
