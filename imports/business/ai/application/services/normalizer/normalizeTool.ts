/** Converts one tool from any accepted form to a flat, checked one. */
import { checkRecordOfRecords, freeze, record } from './fields';
import { describe, isRecord, invalid } from './PlainReader';
import type { Plain, PlainReader, PlainRecord } from './PlainReader';
import { TOOL_KINDS, withKind } from '../../../domain/entities/Tool';
import type {
  BuiltInTool,
  FunctionTool,
  OnDuplicate,
  OnToolChange,
  Tool,
  ToolDelivery,
} from '../../../domain/entities/Tool';
import { NATIVE_TOOL_TYPES } from '../../../domain/types/NativeTool';
import { omitUndefined } from '../../../domain/util/omitUndefined';

/** Names that every vendor accepts. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
/** Maximum delay of a timer in milliseconds; Node fires longer ones immediately. */
export const MAX_TIMEOUT = 2_147_483_647;

const DELIVERIES = { immediate: true, when_idle: true, silent: true } as const satisfies Record<ToolDelivery, true>;
const ON_DUPLICATE = { allow: true, reject: true, join: true } as const satisfies Record<OnDuplicate, true>;
const ON_CHANGE = { continue: true, ask: true, end: true } as const satisfies Record<OnToolChange, true>;

const NATIVE_TYPES = Object.fromEntries(NATIVE_TOOL_TYPES.map((type) => [type, true]));

type Check = (value: Plain, path: string) => void;

const CHECKS = {
  description: text,
  parameters: record,
  strict: flag,
  allowed_callers: callers,
  output_schema: record,
  blocking: flag,
  timeout: milliseconds,
  sequential: flag,
  idempotent: flag,
  kind: oneOf(TOOL_KINDS),
  external: flag,
  readOnly: flag,
  untrusted: flag,
  needsApproval: flag,
  delivery: oneOf(DELIVERIES),
  onDuplicate: oneOf(ON_DUPLICATE),
  onChange: oneOf(ON_CHANGE),
  deferLoading: flagOrAuto,
  native: nativeTool,
  vendor: checkRecordOfRecords,
} as const satisfies Record<Exclude<keyof FunctionTool, 'type' | 'name'>, Check>;

/** `needsApproval` is the only field that may be a function. All others are data. */
export function normalizeTool(tool: unknown, reader: PlainReader, path: string): Tool {
  const fields: Record<string, Plain> = {};
  let needsApproval: FunctionTool['needsApproval'];
  for (const [key, value] of reader.fields(tool, path)) {
    if (key === 'needsApproval' && isApproval(value)) needsApproval = value;
    else if (value !== undefined) fields[key] = reader.read(value, `${path}.${key}`);
  }
  if (typeof fields.type !== 'string' || fields.type === '')
    throw invalid(`${path}.type`, 'must be "function" or the type of a built-in tool');
  if (fields.type !== 'function') {
    if (needsApproval !== undefined) throw invalid(`${path}.needsApproval`, 'is only allowed on function tools');
    return builtInTool(fields, path);
  }
  return functionTool(isRecord(fields.function) ? unnest(fields, fields.function) : fields, needsApproval, path);
}

function isApproval(value: unknown): value is Exclude<FunctionTool['needsApproval'], boolean | undefined> {
  return typeof value === 'function';
}

/** Chat Completions nest the function's fields one level deeper. */
function unnest(fields: PlainRecord, inner: PlainRecord): PlainRecord {
  const { function: _, ...outer } = fields;
  return { ...outer, ...inner, type: 'function' };
}

function functionTool(source: PlainRecord, needsApproval: FunctionTool['needsApproval'], path: string): FunctionTool {
  const { name, ...others } = source;
  const fields = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null));
  for (const [key, check] of Object.entries<Check>(CHECKS)) {
    const value = fields[key];
    if (value !== undefined) check(value, `${path}.${key}`);
  }
  const checked: object = fields;
  return freeze({
    ...withKind(checked),
    type: 'function',
    name: toolName(name, path),
    ...omitUndefined({ needsApproval }),
  });
}

function builtInTool(source: PlainRecord, path: string): BuiltInTool {
  if (source.blocking !== undefined) flag(source.blocking, `${path}.blocking`);
  if (source.vendor !== undefined) checkRecordOfRecords(source.vendor, `${path}.vendor`);
  // BuiltInTool is open to newer types.
  return freeze({ ...source }) as unknown as BuiltInTool;
}

function toolName(value: Plain | undefined, path: string): string {
  if (typeof value !== 'string' || !TOOL_NAME.test(value))
    throw invalid(`${path}.name`, 'must be 1 to 64 letters, digits, "_" or "-"');
  return value;
}

function text(value: Plain, path: string): void {
  if (typeof value !== 'string') throw invalid(path, `must be a string, not ${describe(value)}`);
}

function callers(value: Plain, path: string): void {
  if (!Array.isArray(value) || !value.every((each) => each === 'direct' || each === 'programmatic'))
    throw invalid(path, 'must be a list of "direct" and "programmatic"');
}

function flag(value: Plain, path: string): void {
  if (typeof value !== 'boolean') throw invalid(path, `must be true or false, not ${describe(value)}`);
}

function flagOrAuto(value: Plain, path: string): void {
  if (typeof value !== 'boolean' && value !== 'auto')
    throw invalid(path, `must be true, false or "auto", not ${describe(value)}`);
}

function nativeTool(value: Plain, path: string): void {
  record(value, path);
  oneOf(NATIVE_TYPES)(isRecord(value) ? (value.type ?? null) : null, `${path}.type`);
}

function milliseconds(value: Plain, path: string): void {
  if (typeof value !== 'number' || value <= 0 || value > MAX_TIMEOUT)
    throw invalid(path, `must be a number of milliseconds above 0, at most ${MAX_TIMEOUT}`);
}

function oneOf(values: Readonly<Record<string, unknown>>): Check {
  return (value, path) => {
    if (typeof value !== 'string' || !Object.hasOwn(values, value))
      throw invalid(path, `must be one of: ${Object.keys(values).join(', ')}`);
  };
}
