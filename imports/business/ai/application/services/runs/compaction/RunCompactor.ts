/**
 * Keeps the requests of one run within the model's context window. The transcript stays whole; what changes is what the
 * model is sent of it, and only here: between two compactions every request begins as the last one did.
 */
import { isLLMError, isStoreOutage } from '../../../../domain/errors/LLMErrors';
import type { ModelCapabilities } from '../../../../domain/interfaces/ILLMProvider';
import type { Tool } from '../../../../domain/entities/Tool';
import type { CompactionReason, RunCompaction } from '../../../../domain/types/Compaction';
import type { NormalizedOptions } from '../../../../domain/types/LLMTypes';
import type { Item, LLMResponse } from '../../../../domain/types/ResponsesAPITypes';
import type { Loss } from '../../../../domain/types/VendorTypes';
import { adoptInput, adoptItem, normalizeOptions, withOwnOptions } from '../../ContentNormalizer';
import { assertAnswered } from '../../routing/assertAnswered';
import type { RunJournal } from '../durable/RunJournal';
import type { RunCancellation } from '../RunCancellation';
import type { RunContext } from '../RunContext';
import { DEFAULT_THRESHOLD } from './compactionOptions';
import { compactedHistory, pinnedItems } from './compactedHistory';
import { historyTokens, prefixTokens } from './historyTokens';
import { isShortEnough, summarizedParts, withClearedResults, withCutResults, type Room } from './planCompaction';
import { recallName, withRecall } from './recallTool';
import { excerpts, SUMMARY_INSTRUCTIONS, summaryRequest } from './summarize';

/** What the vendor counted, of everything before an index in the transcript. */
interface Reported {
  readonly tokens: number;
  readonly upTo: number;
}

/** Of what the vendor refused, this much is sent at most. */
const OVERFLOW_SHARE = 0.7;
/** The largest share of the window that is left to a response whose length the caller does not limit. */
const RESPONSE_SHARE = 0.25;
/** A history that could not be made shorter has to grow by this share of the limit before that is tried again. */
const GROWTH_SHARE = 0.1;
const CHARACTERS_PER_TOKEN = 3;

export class RunCompactor {
  private readonly context: RunContext;
  private readonly cancellation: RunCancellation;
  private readonly journal: RunJournal | undefined;
  /** What stands for the items of the transcript before `compaction.length`. */
  private head: readonly Item[] | undefined;
  /** A copy of the first item of a history that was not compacted: see `history`. */
  private first: Item | undefined;
  private reported: Reported | undefined;
  /** Undefined until it is needed. */
  private capacity: { readonly limit: number | undefined } | undefined;
  /** Tokens of a history that could not be made shorter. */
  private futileTokens = 0;
  private unreportedLosses: readonly Loss[] = [];

  constructor(context: RunContext, cancellation: RunCancellation, journal: RunJournal | undefined) {
    this.context = context;
    this.cancellation = cancellation;
    this.journal = journal;
    const { run, compaction } = context;
    const earlier = compaction === false ? undefined : compaction.from;
    // What the input has of the earlier run.
    const isContinued = context.restored === undefined && earlier !== undefined;
    if (isContinued && earlier.length <= run.transcript.length) run.setCompaction(earlier);
    if (run.compaction !== undefined) this.use(run.compaction);
    if (run.lastResponse !== undefined && (run.compaction?.length ?? 0) <= run.turnStart)
      this.noteUsage(run.lastResponse, run.turnStart + run.lastResponse.output.length);
  }

  /**
   * What the model is sent of the transcript; a new array. Its first item is the run's own: converters find by it what
   * they keep of a history, which ends with the run, while stores keep the transcript itself.
   */
  history(): Item[] {
    const { transcript, compaction } = this.context.run;
    if (this.head !== undefined) return this.head.concat(transcript.slice(compaction?.length));
    const items = transcript.slice();
    const [first] = items;
    if (first === undefined) return items;
    this.first ??= adoptItem({ ...first });
    items[0] = this.first;
    return items;
  }

  /** The tools of requests, if they are others than the run's. */
  get tools(): readonly Tool[] | undefined {
    return this.context.run.compaction?.recall === undefined ? undefined : this.context.tools.tools;
  }

  /** Tokens of the next request: what the vendor counted, and an estimate of what came since. */
  nextTokens(): number {
    const { run, options } = this.context;
    const { reported } = this;
    if (reported !== undefined) return reported.tokens + historyTokens(run.transcript, reported.upTo);
    return prefixTokens({ ...options, tools: this.context.tools.tools }) + historyTokens(this.history());
  }

  /** To be called when a response was appended to the transcript. */
  responded(response: LLMResponse): void {
    this.noteUsage(response, this.context.run.transcript.length);
  }

  /** The response to a request whose history was compacted says what it went without. */
  withLosses(response: LLMResponse): LLMResponse {
    if (this.unreportedLosses.length === 0) return response;
    const { vendor } = response;
    const losses = [...this.unreportedLosses, ...vendor.losses];
    this.unreportedLosses = [];
    return { ...response, vendor: { ...vendor, losses } };
  }

  /**
   * Compacts the history if the next request might exceed the window.
   * @returns undefined if it does not; whether the history has changed
   */
  fit(): Promise<boolean> | undefined {
    if (this.context.compaction === false) return undefined;
    const { limit } = (this.capacity ??= { limit: this.limitOf(this.capabilities()) });
    if (limit === undefined) return undefined;
    const tokens = this.nextTokens();
    if (tokens <= limit || tokens < this.futileTokens + limit * GROWTH_SHARE) return undefined;
    return this.fitCounted(limit);
  }

  /**
   * Compacts a history that the vendor has refused as too long.
   * @returns whether it has become shorter
   */
  async shorten(): Promise<boolean> {
    if (this.context.compaction === false) return false;
    const limit = Math.min(this.capacity?.limit ?? Infinity, Math.floor(this.nextTokens() * OVERFLOW_SHARE));
    this.capacity = { limit };
    return this.compact(limit, 'overflow');
  }

  /** The vendor's own count settles what is only estimated. */
  private async fitCounted(limit: number): Promise<boolean> {
    if (this.reported === undefined) {
      const counted = await this.count();
      if (counted !== undefined && counted <= limit) {
        this.reported = { tokens: counted, upTo: this.context.run.transcript.length };
        return false;
      }
    }
    return this.compact(limit, 'window');
  }

  private async count(): Promise<number | undefined> {
    const { run, provider, options } = this.context;
    if (provider.countTokens === undefined) return undefined;
    const { signal } = this.cancellation;
    const { tools = options.tools } = this;
    const request = {
      ...withOwnOptions(options, { input: adoptInput(this.history()), signal }),
      ...(tools && { tools }),
    };
    try {
      return await this.cancellation.race(provider.countTokens(run.userId, request));
    } catch {
      // An estimate does, too.
      this.cancellation.throwIfCancelled();
      return undefined;
    }
  }

  private async compact(limit: number, reason: CompactionReason): Promise<boolean> {
    const { run, options } = this.context;
    const { transcript } = run;
    const before = this.nextTokens();
    const pinned = this.pinned();
    const room = this.roomOf(limit, before, pinned);
    const previous = run.compaction;
    const cleared = withClearedResults(transcript, previous, room, this.recallName());
    let next = reason === 'overflow' ? { ...cleared, limit } : cleared;
    if (!isShortEnough(next, room)) next = await this.summarized(next, room, reason, pinned);
    next = withCutResults(next, room);
    const after = room.tokensWith(next);
    if (after >= before * 0.95) {
      this.futileTokens = before;
      return false;
    }
    this.futileTokens = after > limit ? after : 0;
    this.record(next);
    const losses = lossesOf(transcript, previous, next, pinned);
    this.unreportedLosses = losses;
    run.emit({
      type: 'history:compacted',
      iteration: run.isCalling ? run.iterations : run.iterations + 1,
      model: options.model,
      reason,
      tokensBefore: Math.round(before),
      tokensAfter: Math.round(after),
      summarizedItems: next.summarizedUpTo,
      clearedItems: next.clearedUpTo,
      losses,
    });
    return true;
  }

  /** Each part that was summarized is stored at once, so that it is not summarized again after a crash. */
  private async summarized(
    cleared: RunCompaction,
    room: Room,
    reason: CompactionReason,
    pinned: ReadonlySet<number>,
  ): Promise<RunCompaction> {
    const { transcript } = this.context.run;
    const parts = summarizedParts(transcript, cleared, room, reason === 'overflow');
    let next = cleared;
    for (const end of parts) {
      const items = transcript.slice(next.summarizedUpTo, end);
      const from = next.summarizedUpTo;
      const seen = items.filter((_item, index) => !pinned.has(from + index));
      if (next !== cleared) {
        // Not complete yet.
        this.record({ ...next, count: next.count - 1 });
        if (this.journal !== undefined) await this.cancellation.race(this.journal.flushAndVerifyLease());
      }
      next = { ...next, summarizedUpTo: end, summary: await this.summary(seen, next.summary, room.limit) };
    }
    return next;
  }

  private async summary(items: readonly Item[], previous: string | undefined, limit: number): Promise<string> {
    const characters = Math.floor(limit * CHARACTERS_PER_TOKEN);
    const largest = Math.min(8_000, Math.max(400, Math.floor(characters / 20)));
    const most = Math.floor(characters / 5);
    const { run, provider } = this.context;
    const text = summaryRequest(items, previous, largest)
      .slice(0, Math.floor(characters * 0.9))
      .toWellFormed();
    try {
      const response = await this.cancellation.race(provider.generate(run.userId, this.summaryOptions(text)));
      run.bill.addResponse(response);
      const written = assertAnswered(response).output_text.trim();
      if (written !== '') return written.slice(0, most).toWellFormed();
    } catch (error) {
      this.cancellation.throwIfCancelled();
      // The run waits for its store, and goes on without a summary that the model cannot write.
      if (!isLLMError(error) || isStoreOutage(error)) throw error;
    }
    return excerpts(items, previous, Math.min(most, 4_000));
  }

  private summaryOptions(text: string): NormalizedOptions {
    const { run, options, compaction } = this.context;
    const { providerId, route, routeTargets, user, wire, timeout } = options;
    const model = (compaction === false ? undefined : compaction.model) ?? options.model;
    const ofModel = model === options.model ? { providerId, route, routeTargets, wire } : {};
    const given = { ...ofModel, user, timeout, model, instructions: SUMMARY_INSTRUCTIONS, input: text };
    const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    const source = options.origin?.source === 'job' ? 'job' : 'run';
    const origin = { ...options.origin, source, executionId: run.executionId } as const;
    const { signal } = this.cancellation;
    return withOwnOptions(normalizeOptions(present), { signal, executionId: run.executionId, origin });
  }

  private record(compaction: RunCompaction): void {
    this.context.run.setCompaction(compaction);
    this.use(compaction);
    this.reported = undefined;
  }

  /** Sends what the compaction leaves, and offers the tool that reads the rest. */
  private use(compaction: RunCompaction): void {
    const { run } = this.context;
    this.head = compactedHistory(run.transcript, compaction, this.pinned());
    if (compaction.limit !== undefined) this.capacity = { limit: compaction.limit };
    if (compaction.recall === undefined) return;
    const pageTokens = (this.capacity?.limit ?? Infinity) / 8;
    const characters = Math.max(1_000, Math.floor(pageTokens * CHARACTERS_PER_TOKEN));
    this.context.tools = withRecall(this.context.tools, compaction.recall, () => run.transcript, characters);
  }

  private pinned(): ReadonlySet<number> {
    const { run, options, compaction } = this.context;
    return pinnedItems(run.transcript, options.input.length, compaction === false ? [] : compaction.pinned);
  }

  private roomOf(limit: number, before: number, pinned: ReadonlySet<number>): Room {
    const { run, options } = this.context;
    const prefix = prefixTokens({ ...options, tools: this.context.tools.tools });
    const estimated = prefix + historyTokens(this.history());
    // Of vendors that count much less than is estimated, images are cached or the history is stored.
    const ratio = this.reported === undefined ? 1 : Math.min(3, Math.max(0.5, before / estimated));
    const tokensWith = (compaction: RunCompaction): number =>
      (prefix + historyTokens(compactedHistory(run.transcript, compaction, pinned))) * ratio;
    return { limit, ratio, tokensWith };
  }

  /** A run that answers in a format may not be able to call tools, and one that has none may not want any. */
  private recallName(): string | undefined {
    const { run, options, tools, executor } = this.context;
    if (run.compaction?.recall !== undefined) return run.compaction.recall;
    const isFree = options.response_format === undefined || options.response_format.type === 'text';
    const offersFunctions = tools.names.length > 0;
    if (!offersFunctions && (tools.tools.length > 0 || !isFree)) return undefined;
    if (options.tool_choice === 'none' || this.capabilities()?.supportsTools === false) return undefined;
    return recallName(tools, executor);
  }

  private noteUsage({ usage }: LLMResponse, upTo: number): void {
    const { input_tokens, output_tokens } = usage;
    this.reported = input_tokens > 0 ? { tokens: input_tokens + output_tokens, upTo } : undefined;
  }

  /** A provider from outside may lack the method or throw. */
  private capabilities(): ModelCapabilities | undefined {
    const { provider, options } = this.context;
    try {
      return provider.getCapabilities(options.model, options.wire);
    } catch {
      return undefined;
    }
  }

  private limitOf(capabilities: ModelCapabilities | undefined): number | undefined {
    const { options, compaction } = this.context;
    const { window: given, threshold = DEFAULT_THRESHOLD } = compaction === false ? {} : compaction;
    const known = capabilities?.isWindowUnknown === true ? undefined : capabilities?.maxTokens;
    const window = given ?? known;
    if (window === undefined || !(window > 0)) return undefined;
    const most = window * RESPONSE_SHARE;
    const response = options.max_output_tokens ?? Math.min(capabilities?.maxOutputTokens ?? most, most);
    return Math.floor(Math.max(window * RESPONSE_SHARE, Math.min(window * threshold, window - response)));
  }
}

/** What the model no longer sees since the last compaction. */
function lossesOf(
  transcript: readonly Item[],
  previous: RunCompaction | undefined,
  next: RunCompaction,
  pinned: ReadonlySet<number>,
): readonly Loss[] {
  const losses: Loss[] = [];
  const from = previous?.summarizedUpTo ?? 0;
  const { summarizedUpTo, clearedUpTo } = next;
  const reason = 'The history was compacted to fit into the context window of the model.';
  if (summarizedUpTo > from) {
    let dropped = 0;
    for (let index = from; index < summarizedUpTo; index += 1) if (!pinned.has(index)) dropped += 1;
    losses.push({ path: `input[${from}]`, what: `${dropped} items, replaced by a summary`, reason });
  }
  const start = Math.max(summarizedUpTo, previous?.clearedUpTo ?? 0);
  const results = transcript.slice(start, clearedUpTo).filter(({ type }) => type === 'function_call_output').length;
  if (results > 0) losses.push({ path: `input[${start}]`, what: `the text of up to ${results} tool results`, reason });
  if (next.resultCharacters !== undefined)
    losses.push({
      path: `input[${clearedUpTo}]`,
      what: `all but ${next.resultCharacters} characters of each of the latest tool results`,
      reason,
    });
  return losses;
}
