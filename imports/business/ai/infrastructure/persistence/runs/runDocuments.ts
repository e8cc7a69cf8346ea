/**
 * A run and its calls as documents of `ai_runs` and `ai_tool_calls`. The views' fields are stored as they are
 * published. `PrivateRunFields` and `PrivateCallFields` belong to the journal and are never published.
 */
import { bucketOf } from '../../../domain/entities/latencyBuckets';
import { inputOf, isFunctionTool, isUndelivered, waitOf, withKind } from '../../../domain/entities/Tool';
import type { FunctionTool, InputRequest, ToolCall } from '../../../domain/entities/Tool';
import type { Modifier } from '../../../../../database/DocumentCollection';
import type { OpenCalls, RecordedCalls } from '../../../domain/interfaces/RunStore';
import { argumentsHash } from '../../../application/services/shared/argumentsHash';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { Actor } from '../../../domain/types/Actor';
import type { RunCompaction } from '../../../domain/types/Compaction';
import type { Item, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { RunLimits } from '../../../domain/types/RunLimits';
import type { RunPlan, RunProgress, RunRecord, RunRequest, ToolHash } from '../../../domain/types/RunRecords';
import type { RunDetailView, ToolCallView, UsageView } from '../../../domain/types/RunViews';
import type { TraceContext } from '../../../domain/types/TraceContext';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { isList } from '../../../domain/util/json';
import { isAsNew } from './isAsNew';
import { isFieldName } from '../../../../../database/query/fieldPaths';
import { searchWords } from '../../../../../database/searchWords';

export const RUNS = 'ai_runs';
export const TOOL_CALLS = 'ai_tool_calls';
export const RUN_OWNERS = 'ai_run_owners';
export const RUN_COMMANDS = 'ai_run_commands';

interface PrivateRunFields {
  readonly requestId: string;
  readonly argumentsHash: string;
  readonly source: Actor['source'];
  readonly dueAt?: number;
  readonly trace?: TraceContext;
  /** Whether the time of a queued run has come. */
  readonly isDue?: boolean;
  readonly parentExecutionId?: string;
  readonly parentCallId?: string;
  readonly depth?: number;
  readonly priority?: number;
  readonly globalPriority?: number;
  readonly concurrencyKey?: string;
  readonly concurrencyLimit?: number;
  readonly owner: string;
  readonly fence: number;
  /** Identifies the last bulk claim of this run. */
  readonly claimToken?: string;
  readonly neededTools?: readonly string[];
  /** JSON of the RunPlan. */
  readonly plan: string;
  readonly usage: StoredUsage;
  /** See `RunTranscripts`. */
  readonly transcriptItems?: number;
  readonly deliveries?: number;
  readonly countedFrom?: number;
  readonly isCalling: boolean;
  readonly turnStart: number;
  /** JSON of the last LLMResponse. */
  readonly response?: string;
  /** JSON of the RunCompaction. */
  readonly compaction?: string;
  readonly failedTurns: number;
  readonly worked: number;
  readonly seq: number;
  readonly takeovers: number;
  /** Recorded by earlier versions. */
  readonly trial?: unknown;
  readonly toolHashes?: readonly ToolHash[];
  /** JSON of the calls that have not settled, by their ids in hexadecimal digits after a "c". See `OpenCalls`. */
  readonly openCalls?: Readonly<Record<string, string>>;
  /** JSON of the messages to the run that its transcript does not have, by their ids in hexadecimal after an "m". */
  readonly messages?: Readonly<Record<string, string>>;
  /** What became of each message to the run, in the order of arrival. A number: its place in the transcript. */
  readonly messageStates?: Readonly<Record<string, 'waiting' | 'taken' | 'withdrawn' | number>>;
  /** How many there were. */
  readonly messagesSent?: number;
  /** The words of its ids and, unless content is sealed, of its title, for the search. */
  readonly words?: readonly string[];
  /** The words of the models and tools used so far, for the search. */
  readonly usedWords?: readonly string[];
}

interface StoredUsage extends UsageView {
  readonly cache_write_tokens: number;
  readonly estimated?: boolean;
}

/** Fields that the journal writes, or people set, and that it does not read. */
type ViewOnlyField = 'budget' | 'duration' | 'words' | 'usedWords' | 'rating' | 'comment' | 'ratedBy' | 'ratedAt';

export type RunDocument = Omit<RunDetailView, 'outputState'> & PrivateRunFields & { readonly input: string };

interface PrivateCallFields {
  readonly userId: string;
  readonly fence: number;
  /** Whether its result has yet to be sent to the model. */
  readonly undelivered: boolean;
  /** `executionTime` as a logarithmic bucket, for reports: see `entities/latencyBuckets`. */
  readonly durationBucket?: number;
  /** Orders the run's calls. */
  readonly createdAt: number;
  /** JSON of the ToolCall. */
  readonly call: string;
}

export type ToolCallDocument = ToolCallView & PrivateCallFields;

type CallFields = Omit<ToolCallDocument, '_id' | 'fence'>;

export interface OwnerDocument {
  readonly _id: string;
  readonly beats: number;
  /** The last heartbeat; used only to expire the document, since clocks differ. */
  readonly seenAt: Date;
}

export interface CommandDocument {
  readonly _id: string;
  readonly executionId: string;
  /** JSON of the RunAction. */
  readonly order: string;
  readonly createdAt: Date;
}

/** All fields of a run except its messages, which may be long. */
export const WITHOUT_TRANSCRIPT = {
  _id: 1,
  userId: 1,
  requestId: 1,
  argumentsHash: 1,
  source: 1,
  providerId: 1,
  model: 1,
  title: 1,
  conversationId: 1,
  createdAt: 1,
  dueAt: 1,
  neededTools: 1,
  trace: 1,
  parentExecutionId: 1,
  parentCallId: 1,
  depth: 1,
  priority: 1,
  globalPriority: 1,
  concurrencyKey: 1,
  concurrencyLimit: 1,
  plan: 1,
  owner: 1,
  fence: 1,
  state: 1,
  startedAt: 1,
  endedAt: 1,
  iterations: 1,
  deliveries: 1,
  isCalling: 1,
  usage: 1,
  cost: 1,
  error: 1,
  turnStart: 1,
  openCalls: 1,
  messages: 1,
  messageStates: 1,
  messagesSent: 1,
  countedFrom: 1,
  failedTurns: 1,
  worked: 1,
  seq: 1,
  takeovers: 1,
  parked: 1,
  awaitedTools: 1,
  missingTools: 1,
  changedTools: 1,
  toolHashes: 1,
  unpriced: 1,
  models: 1,
  tools: 1,
  tags: 1,
  metadata: 1,
} as const satisfies Record<
  Exclude<
    keyof RunDocument,
    | 'input'
    | 'output'
    | 'transcript'
    | 'transcriptItems'
    | 'response'
    | 'compaction'
    | 'isDue'
    | 'claimToken'
    | 'trial'
    | ViewOnlyField
  >,
  1
>;

/** Characters of arguments and results that views contain. */
const MAX_SHOWN_CHARACTERS = 16 * 1024;

/** @param isSearchable whether the run can be found by the words of its title */
export function toRunDocument(
  request: RunRequest,
  progress: RunProgress,
  owner: string,
  isSearchable = true,
): RunDocument {
  // The record of another run is a request, too.
  const { executionId, input, plan, transcript: _, ...plain }: RunRequest & { readonly transcript?: unknown } = request;
  const { transcript, ...others } = progress;
  const { userId, model, providerId, title, conversationId } = request;
  return {
    ...plain,
    _id: executionId,
    owner,
    fence: 1,
    input: JSON.stringify(input),
    plan: JSON.stringify(plan),
    ...budgetOf(plan.limits),
    ...queueFieldsOf(request),
    words: searchWords([executionId, userId, conversationId, model, providerId, ...(isSearchable ? [title] : [])]),
    ...toRunFields(others),
    ...(transcript.length > input.length ? transcriptFields(transcript, input.length) : {}),
  };
}

/** @param inputItems how many items are the input, which is not stored again */
export function transcriptFields(
  transcript: readonly Item[],
  inputItems: number,
): Pick<RunDocument, 'output'> | Pick<RunDocument, 'transcript'> {
  return inputItems === 0
    ? { transcript: JSON.stringify(transcript) }
    : { output: JSON.stringify(transcript.slice(inputItems)) };
}

/** What the next run is found by. */
function queueFieldsOf({
  isQueued,
  dueAt = 0,
  createdAt,
  priority = 0,
  globalPriority = 0,
}: RunRequest): Partial<RunDocument> {
  return isQueued === true ? { isDue: dueAt <= createdAt, priority, globalPriority } : {};
}

function budgetOf({ budget = {} }: RunLimits): Pick<RunDocument, 'budget'> {
  const { calls, tokens, money } = budget;
  const limits = omitUndefined({ calls, tokens, money });
  return Object.keys(limits).length === 0 ? {} : { budget: limits };
}

/** The document fields of partial progress; absent ones are left out. */
export function toRunFields<P extends Partial<Omit<RunProgress, 'transcript'>>>(
  progress: P,
): Omit<P, 'response' | 'compaction' | 'usage'> &
  Pick<RunDocument, Extract<keyof P, 'response' | 'compaction' | 'usage'>>;
export function toRunFields({
  response,
  compaction,
  usage,
  ...plain
}: Partial<Omit<RunProgress, 'transcript'>>): Partial<RunDocument> {
  const { startedAt, endedAt, models = [], tools = [] } = plain;
  return omitUndefined({
    ...plain,
    duration: startedAt === undefined || endedAt === undefined ? undefined : Math.max(0, endedAt - startedAt),
    usedWords: models.length + tools.length === 0 ? undefined : searchWords([...tools, ...models]),
    response: response && JSON.stringify(response),
    compaction: compaction && JSON.stringify(compaction),
    usage: usage && toStoredUsage(usage),
  });
}

/** @param document complete, with its entire transcript, or without its messages */
export function fromRunDocument(document: Omit<RunDocument, 'input'> & Partial<Pick<RunDocument, 'input'>>): RunRecord {
  const { _id, input = '[]', plan, transcript = '[]', response, compaction, usage, ...stored } = document;
  const {
    output: _output,
    transcriptItems: _items,
    openCalls: _openCalls,
    messages: _messages,
    messageStates: _states,
    messagesSent: _sent,
    isDue: _isDue,
    claimToken: _token,
    trial: _trial,
    ...viewed
  } = stored;
  const { budget: _budget, duration: _, words: __, usedWords: ___, ...labelled } = viewed;
  const { rating: _rating, comment: _comment, ratedBy: _ratedBy, ratedAt: _ratedAt, ...plain } = labelled;
  return omitUndefined({
    ...plain,
    executionId: _id,
    usage: fromStoredUsage(usage),
    // This store wrote these fields.
    input: JSON.parse(input) as RunRecord['input'],
    plan: fromStoredPlan(plan),
    transcript: JSON.parse(transcript) as RunRecord['transcript'],
    response: response === undefined ? undefined : (JSON.parse(response) as NonNullable<RunRecord['response']>),
    compaction: compaction === undefined ? undefined : (JSON.parse(compaction) as RunCompaction),
  });
}

function fromStoredPlan(json: string): RunPlan {
  const plan = JSON.parse(json) as RunPlan;
  return { ...plan, tools: plan.tools.map(fromStoredTool) };
}

type FormerTool = FunctionTool & { readonly [Flag in 'timer' | 'signal' | 'childRun']?: boolean };

/** Reads a tool that an earlier version may have recorded, with flags in place of `kind`. */
function fromStoredTool(tool: RunPlan['tools'][number]): RunPlan['tools'][number] {
  if (typeof tool === 'string' || !isFunctionTool(tool)) return tool;
  const { timer, signal, childRun, ...others }: FormerTool = tool;
  if (signal === true) return withKind({ ...others, kind: 'signal' });
  if (childRun === true) return withKind({ ...others, kind: 'run' });
  if (timer === true) return withKind({ ...others, kind: 'timer' });
  return withKind(others);
}

/** The run's own fields for `OpenCalls`. @param isEnding all are dropped */
export function toOpenCallsModifier({ changed, settled }: OpenCalls, isEnding: boolean): Modifier {
  if (isEnding) return { $unset: { openCalls: true } };
  const gone = settled.filter((id) => changed.every((call) => call.id !== id));
  return {
    ...(changed.length === 0
      ? {}
      : { $set: Object.fromEntries(changed.map((call) => [openCallPath(call.id), JSON.stringify(call)])) }),
    ...(gone.length === 0 ? {} : { $unset: Object.fromEntries(gone.map((id) => [openCallPath(id), true])) }),
  };
}

/** The calls of a run, oldest first. */
export function fromCallDocuments(
  documents: readonly ToolCallDocument[],
  { openCalls = {} }: Pick<RunDocument, 'openCalls'>,
): readonly ToolCall[] {
  const stored = documents.map(fromCallDocument);
  const open = Object.values(openCalls).map((json) => JSON.parse(json) as ToolCall);
  if (open.length === 0) return stored;
  const calls = new Map([...stored, ...open].map((call) => [call.id, call]));
  for (const call of stored) if (isAsNew(call, calls.get(call.id))) calls.set(call.id, call);
  return [...calls.values()].toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

/** Which of the run's calls its own write has recorded. */
export function recordedCalls(
  documents: readonly ToolCallDocument[],
  { openCalls = {} }: Pick<RunDocument, 'openCalls'>,
): RecordedCalls {
  const open = Object.values(openCalls).map((json) => JSON.parse(json) as ToolCall);
  if (open.length === 0) return { withRun: [], onlyWithRun: [] };
  const stored = new Map(documents.map((document) => [document.callId, fromCallDocument(document)]));
  const isStored = (call: ToolCall): boolean => {
    const own = stored.get(call.id);
    return own !== undefined && isAsNew(own, call);
  };
  return {
    withRun: open.map(({ id }) => id),
    onlyWithRun: open.filter((call) => !isStored(call)).map(({ id }) => id),
  };
}

/** Ids may contain any characters, field names may not. */
function openCallPath(callId: string): string {
  return `openCalls.c${Buffer.from(callId).toString('hex')}`;
}

export function callDocumentId(executionId: string, callId: string): string {
  return `${executionId}:${callId}`;
}

/** The fields that a call has only while it waits for a person or another service. */
export const WAIT_FIELDS = {
  waiting: true,
  expiresAt: true,
  argumentsHash: true,
  argumentsLength: true,
  input: true,
} as const satisfies {
  readonly [F in keyof ToolCallView]?: true;
};

/** Replaces the fields of a stored call. */
export function toCallModifier(
  executionId: string,
  userId: string,
  call: ToolCall,
): Pick<Modifier, '$unset'> & { readonly $set: CallFields } {
  const fields = toCallFields(executionId, userId, call);
  const absent = Object.keys(WAIT_FIELDS).filter((name) => !(name in fields));
  return {
    $set: fields,
    ...(absent.length === 0 ? {} : { $unset: Object.fromEntries(absent.map((name) => [name, true])) }),
  };
}

/** All fields but `_id` and `fence`. */
export function toCallFields(executionId: string, userId: string, call: ToolCall): CallFields {
  return omitUndefined({
    executionId,
    userId,
    callId: call.id,
    name: call.name,
    blocking: call.blocking,
    state: call.state,
    createdAt: call.createdAt,
    arguments: call.arguments.slice(0, MAX_SHOWN_CHARACTERS),
    undelivered: isUndelivered(call),
    call: JSON.stringify(call),
    approvalRequestedAt: call.approvalRequestedAt,
    decidedBy: call.decidedBy,
    startTime: 'startTime' in call ? call.startTime : undefined,
    ...('endTime' in call ? settledFields(call) : {}),
    progress: call.progress?.fraction,
    note: call.progress?.note,
    error: 'error' in call ? call.error.message : undefined,
    result: 'result' in call ? call.result.slice(0, MAX_SHOWN_CHARACTERS) : undefined,
    answers: call.answers?.map((answered) => ({ ...answered, input: shownInput(answered.input) })),
    ...waitFieldsOf(call),
  });
}

function settledFields({
  startTime,
  endTime,
  executionTime,
}: Pick<Extract<ToolCall, { readonly endTime: number }>, 'startTime' | 'endTime' | 'executionTime'>): Pick<
  ToolCallDocument,
  'endTime' | 'executionTime' | 'durationBucket'
> {
  // A call that never ran took no time, which says nothing about its tool.
  const ran = startTime !== undefined;
  return { endTime, executionTime, ...(ran ? { durationBucket: bucketOf(executionTime) } : {}) };
}

function waitFieldsOf(call: ToolCall): Pick<ToolCallView, keyof typeof WAIT_FIELDS> {
  const waiting = waitOf(call);
  const input = inputOf(call);
  if (waiting === undefined) return {};
  return omitUndefined({
    waiting,
    argumentsHash: argumentsHash(call.arguments),
    argumentsLength: call.arguments.length,
    expiresAt: 'expiresAt' in call ? call.expiresAt : undefined,
    input: input && shownInput(input),
  });
}

const MAX_SHOWN_LEVELS = 30;

/** Leaves out what no document may have, which schemas do, such as `$ref`: the call itself has all of it, as JSON. */
function shownInput(input: InputRequest): InputRequest {
  const { schema } = input;
  // An object stays an object.
  return schema === undefined ? input : { ...input, schema: storableParts(schema, MAX_SHOWN_LEVELS) as JsonObject };
}

function storableParts(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return {};
  if (isList(value)) return value.map((each) => storableParts(each, levels - 1));
  const named = Object.entries(value).filter(([name]) => isFieldName(name));
  return Object.fromEntries(named.map(([name, each]) => [name, storableParts(each, levels - 1)]));
}

export function fromCallDocument(document: ToolCallDocument): ToolCall {
  // This store wrote the field.
  return JSON.parse(document.call) as ToolCall;
}

function toStoredUsage(usage: Usage): StoredUsage {
  return omitUndefined({
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    cached_tokens: usage.input_tokens_details.cached_tokens,
    cache_write_tokens: usage.input_tokens_details.cache_write_tokens,
    reasoning_tokens: usage.output_tokens_details.reasoning_tokens,
    estimated: usage.estimated,
  });
}

function fromStoredUsage(usage: StoredUsage): Usage {
  return omitUndefined({
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    input_tokens_details: { cached_tokens: usage.cached_tokens, cache_write_tokens: usage.cache_write_tokens },
    output_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
    estimated: usage.estimated,
  });
}
