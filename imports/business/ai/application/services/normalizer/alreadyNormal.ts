/**
 * Recognizes items that are already normalized, as nearly all are in a long history, so that they need no conversion.
 */
import { isList, isRecord } from './PlainReader';
import type { Plain, PlainRecord } from './PlainReader';
import type {
  FunctionCallItem,
  FunctionCallOutputItem,
  InputText,
  MessageItem,
  OutputText,
} from '../../../domain/types/ResponsesAPITypes';

/**
 * @returns the item itself if all of its fields are known and valid, or undefined if it must be converted or rejected
 */
export function normalizedItem(source: Plain): MessageItem | FunctionCallItem | FunctionCallOutputItem | undefined {
  // The fields were checked one by one, so the item has the type.
  return isRecord(source) && isWritten(source)
    ? (source as unknown as MessageItem | FunctionCallItem | FunctionCallOutputItem)
    : undefined;
}

function isWritten(source: PlainRecord): boolean {
  switch (source.type) {
    case 'message':
      return isMessage(source);
    case 'function_call':
      return has(CALL, source);
    case 'function_call_output':
      return has(OUTPUT, source);
    default:
      return false;
  }
}

type Check = (value: Plain) => boolean;

interface Shape {
  readonly checks: ReadonlyMap<string, Check>;
  readonly needed: readonly string[];
}

/** Makes the compiler report a forgotten field. */
function shape<T>(
  needed: Readonly<Record<Needed<T>, Check>>,
  others: Readonly<Record<Exclude<keyof T & string, Needed<T>>, Check>>,
): Shape {
  return { checks: new Map(Object.entries<Check>({ ...needed, ...others })), needed: Object.keys(needed) };
}

type Needed<T> = { [K in keyof T & string]-?: object extends Pick<T, K> ? never : K }[keyof T & string];

const isText: Check = (value) => typeof value === 'string';
const isName: Check = (value) => typeof value === 'string' && value !== '';
const isFlag: Check = (value) => typeof value === 'boolean';
/** `vendor` and `native` hold objects by name. */
const holdsRecords: Check = (value) => isRecord(value) && Object.values(value).every(isRecord);

const CALL = shape<FunctionCallItem>(
  { type: isText, call_id: isName, name: isText, arguments: isText },
  { id: isText, status: isText, async: isFlag, caller: isRecord, native: holdsRecords, vendor: holdsRecords },
);
const OUTPUT = shape<FunctionCallOutputItem>(
  { type: isText, call_id: isName, output: isText },
  { id: isText, status: isText, deferred: isFlag, name: isText, state: isText, caller: isRecord, vendor: holdsRecords },
);
const MESSAGE = shape<MessageItem>(
  { type: isText, role: isText, content: isList },
  { id: isText, status: isText, phase: isText, vendor: holdsRecords },
);
const INPUT_TEXT = shape<InputText>(
  { type: (value) => value === 'input_text', text: isText },
  { vendor: holdsRecords },
);
const OUTPUT_TEXT = shape<OutputText>(
  {
    type: (value) => value === 'output_text',
    text: isText,
    annotations: (value) => isList(value) && value.every(isRecord),
  },
  { logprobs: isList, vendor: holdsRecords },
);

/** The role, not the part's own type, determines whether text belongs to the assistant. */
const TEXTS: Readonly<Record<string, Shape>> = {
  user: INPUT_TEXT,
  developer: INPUT_TEXT,
  system: INPUT_TEXT,
  assistant: OUTPUT_TEXT,
};

function isMessage(source: PlainRecord): boolean {
  const { role, content } = source;
  const text = typeof role === 'string' && Object.hasOwn(TEXTS, role) ? TEXTS[role] : undefined;
  return (
    text !== undefined &&
    has(MESSAGE, source) &&
    isList(content) &&
    content.every((part) => isRecord(part) && has(text, part))
  );
}

function has({ checks, needed }: Shape, source: PlainRecord): boolean {
  for (const key of Object.keys(source)) if (checks.get(key)?.(source[key] ?? null) !== true) return false;
  for (const key of needed) if (source[key] === undefined) return false;
  return true;
}
