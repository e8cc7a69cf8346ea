/**
 * Keeps the requests of one run within the model's context window. The transcript stays whole; what changes is what the
 * model is sent of it, and only here: between two compactions every request begins as the last one did.
 */
import { billedResponse, isLLMError, isStoreOutage } from '../../../../domain/errors/LLMErrors';
import type { ModelCapabilities } from '../../../../domain/interfaces/ILLMProvider';
import type { Tool } from '../../../../domain/entities/Tool';
import type { RunEvent } from '../../../../domain/run/RunEvent';
import type { CompactionReader, CompactionReason, RunCompaction } from '../../../../domain/types/Compaction';
import type { NormalizedOptions } from '../../../../domain/types/LLMTypes';
import type { FindableTools } from '../../../../domain/types/ToolSearch';
import type { Item, LLMResponse } from '../../../../domain/types/ResponsesAPITypes';
import type { Loss } from '../../../../domain/types/VendorTypes';
import { adoptInput, adoptItem, normalizeOptions, withOwnOptions } from '../../ContentNormalizer';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import { assertAnswered } from '../../../../domain/errors/assertAnswered';
import { conversationKey } from '../conversationKey';
import type { RunCancellation } from '../RunCancellation';
import type { RunContext } from '../RunContext';
import type { RunEventTarget } from '../RunEventTarget';
import { lossesOf } from './compactionLosses';
import { DEFAULT_THRESHOLD } from './compactionOptions';
import { compactedHistory, historyUpTo, lastQuestion, pinnedItems } from './compactedHistory';
import { historyTokens, prefixTokens } from './historyTokens';
import { assertLeastFits } from './leastRequest';
import { isShortEnough, summarizedParts, withClearedResults, withCutResults, withoutVendor } from './planCompaction';
import type { Room } from './planCompaction';
import { recallName, withRecall } from './recallTool';
import { excerpts, SUMMARY_INSTRUCTIONS, summaryRequest } from './summarize';
import { isVendorAsked, readerOf, vendorCompactionIn, vendorCompactionOptions } from './vendorCompaction';

/** What the vendor counted, of everything before an index in the transcript. */
interface Reported {
  readonly tokens: number;
  readonly upTo: number;
  /** What the request had of the transcript, and so the definitions of the tools that this has disclosed. */
  readonly sentUpTo: number;
}

type CompactionReport = NonNullable<Extract<RunEvent, { readonly type: 'historyCompacted' }>['report']>;

interface Attempt {
  readonly reason: CompactionReason;
  readonly previous: RunCompaction | undefined;
  /** Tokens of the request without it. */
  readonly before: number;
  readonly room: Room;
  readonly pinned: ReadonlySet<number>;
}

/** After a vendor has refused a request as too long, the next one may have this share of its tokens. */
const OVERFLOW_SHARE = 0.7;
/** The largest share of the window that is left to a response whose length the caller does not limit. */
const RESPONSE_SHARE = 0.25;
/** A history that could not be made shorter has to grow by this share of the limit before that is tried again. */
const GROWTH_SHARE = 0.1;
const CHARACTERS_PER_TOKEN = 3;
/** What a vendor has compacted may fill this share of the limit. If it is more, it soon had to be compacted again. */
const VENDOR_SHARE = 0.75;

export class RunCompactor {
  private readonly context: RunContext;
  private readonly cancellation: RunCancellation;
  private readonly target: RunEventTarget;
  /** What stands for the items of the transcript before `compaction.length`. */
  private head: readonly Item[] | undefined;
  /** A copy of the first item of a history that was not compacted: see `history`. */
  private first: Item | undefined;
  private conversation: string | undefined;
  private reported: Reported | undefined;
  /** Undefined until it is needed: the tokens of the window, and of them those that a request may have. */
  private capacity: { readonly limit: number | undefined; readonly window?: number | undefined } | undefined;
  /** Tokens of a history that could not be made shorter. */
  private futileTokens = 0;
  private unreportedLosses: readonly Loss[] = [];

  constructor(context: RunContext, cancellation: RunCancellation, target: RunEventTarget) {
    this.context = context;
    this.cancellation = cancellation;
    this.target = target;
    const { run } = context;
    const { compaction: present, response, turnStart } = run.current;
    if (present !== undefined) this.use(present);
    if (response !== undefined && (present?.length ?? 0) <= turnStart) this.noteUsage(response, turnStart);
  }

  /**
   * What the model is sent of the transcript; a new array. Its first item is the run's own: converters find by it what
   * they keep of a history, which ends with the run, while stores keep the transcript itself.
   */
  history(): Item[] {
    const { transcript } = this.context.run;
    const { compaction } = this.context.run.current;
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
    const { run, tools, disclosedTools } = this.context;
    if (disclosedTools !== undefined) return disclosedTools.offered(tools, run.transcript);
    return run.current.compaction?.recall === undefined ? undefined : tools.tools;
  }

  /** What the history can find among them. */
  get findableTools(): FindableTools | undefined {
    const { run, tools, disclosedTools } = this.context;
    return disclosedTools?.findable(tools, run.transcript, run.current.compaction?.length ?? 0);
  }

  /** Stands for the conversation in caches of prompts. */
  get cacheKey(): string {
    const { userId, transcript } = this.context.run;
    return (this.conversation ??= conversationKey(userId, transcript));
  }

  /** Who can read the history, if not everyone can. */
  get reader(): CompactionReader | undefined {
    const vendor = this.context.run.current.compaction?.vendor;
    return vendor === undefined ? undefined : readerOf(vendor);
  }

  /** Tokens of the next request: what the vendor counted, and an estimate of what came since. */
  nextTokens(): number {
    const { run, tools, disclosedTools } = this.context;
    const { reported } = this;
    if (reported === undefined) return this.prefixTokens() + historyTokens(this.history());
    const disclosed = disclosedTools?.disclosedSince(tools, run.transcript, reported.sentUpTo) ?? [];
    const added = disclosed.length === 0 ? 0 : prefixTokens({ tools: disclosed });
    return reported.tokens + added + historyTokens(run.transcript, reported.upTo);
  }

  /** The transcript was unloaded. */
  unload(): void {
    this.head = undefined;
    this.first = undefined;
  }

  /** It was loaded again. */
  load(): void {
    const { compaction } = this.context.run.current;
    if (compaction !== undefined) this.head = this.headOf(compaction);
  }

  /** @param turnStart the index in the transcript at which the response begins */
  responded(response: LLMResponse, turnStart: number): void {
    this.noteUsage(response, turnStart);
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
   * @throws LLMContextLengthError if what cannot be left out exceeds it
   */
  fit(): Promise<boolean> | undefined {
    if (this.context.compaction === false) return undefined;
    const { limit } = (this.capacity ??= this.capacityOf(this.capabilities()));
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
    this.capacity = { ...this.capacity, limit };
    return this.compact(limit, 'overflow');
  }

  /**
   * Compacts the transcript from its beginning, because what a vendor made of it cannot be read by the one that serves
   * the next call.
   * @returns whether there was anything that not everyone can read
   */
  async makePortable(): Promise<boolean> {
    const { run } = this.context;
    const { transcript } = run;
    const { compaction: previous } = run.current;
    if (previous?.vendor === undefined) return false;
    const before = this.nextTokens();
    const pinned = this.pinned();
    const room = this.roomOf(this.capacity?.limit ?? before, before, pinned);
    const cleared = withoutVendor(withClearedResults(transcript, previous, room, this.recallName()));
    const next = withCutResults(await this.summarized(cleared, room, 'unreadable', pinned), room);
    this.conclude(next, { reason: 'unreadable', previous, before, room, pinned });
    return true;
  }

  /** The vendor's own count settles what is only estimated. */
  private async fitCounted(limit: number): Promise<boolean> {
    if (this.reported === undefined) {
      const counted = await this.count();
      if (counted !== undefined && counted <= limit) {
        const { length } = this.context.run.transcript;
        this.reported = { tokens: counted, upTo: length, sentUpTo: length };
        return false;
      }
    }
    await this.assertLeastFits();
    return this.compact(limit, 'window');
  }

  private async assertLeastFits(): Promise<void> {
    const window = this.capacity?.window;
    if (window === undefined) return;
    const { run, options } = this.context;
    const { transcript } = run;
    const prefix = { ...options, tools: this.tools ?? this.context.tools.tools };
    const request = { model: options.model, transcript, pinned: this.pinned(), prefix };
    await assertLeastFits(request, window, (items) => this.count(items));
  }

  private async count(items: readonly Item[] = this.history()): Promise<number | undefined> {
    const { run, provider, options } = this.context;
    if (provider.countTokens === undefined) return undefined;
    const { signal } = this.cancellation;
    const { tools = options.tools, findableTools } = this;
    const request = withOwnOptions(options, {
      ...omitUndefined({ tools, findableTools }),
      input: adoptInput(items),
      signal,
    });
    try {
      return await this.cancellation.race(provider.countTokens(run.userId, request));
    } catch {
      // An estimate does, too.
      this.cancellation.throwIfCancelled();
      return undefined;
    }
  }

  private async compact(limit: number, reason: CompactionReason): Promise<boolean> {
    const { run, compaction } = this.context;
    const { compaction: previous } = run.current;
    const before = this.nextTokens();
    const pinned = this.pinned();
    const room = this.roomOf(limit, before, pinned);
    const cleared = withClearedResults(run.transcript, previous, room, this.recallName());
    let next = reason === 'overflow' ? { ...cleared, limit } : cleared;
    const isPreferred = compaction !== false && compaction.strategy === 'vendor';
    if (isPreferred || !isShortEnough(next, room))
      next = (await this.byVendor(next, room, reason, pinned)) ?? (await this.portably(next, room, reason, pinned));
    next = withCutResults(next, room);
    if (room.tokensWith(next) >= before * 0.95) {
      this.futileTokens = before;
      return false;
    }
    this.conclude(next, { reason, previous, before, room, pinned });
    return true;
  }

  private conclude(next: RunCompaction, { reason, previous, before, room, pinned }: Attempt): void {
    const { run, options } = this.context;
    const after = room.tokensWith(next);
    this.futileTokens = after > room.limit ? after : 0;
    const losses = lossesOf(run.transcript, previous, next, pinned);
    this.unreportedLosses = losses;
    const { iterations } = run.current;
    this.record(next, {
      type: 'history:compacted',
      iteration: run.isCalling ? iterations : iterations + 1,
      model: options.model,
      reason,
      strategy: next.vendor === undefined ? 'portable' : 'vendor',
      tokensBefore: Math.round(before),
      tokensAfter: Math.round(after),
      summarizedItems: next.summarizedUpTo,
      clearedItems: next.clearedUpTo,
      losses,
    });
  }

  private async portably(
    cleared: RunCompaction,
    room: Room,
    reason: CompactionReason,
    pinned: ReadonlySet<number>,
  ): Promise<RunCompaction> {
    if (isShortEnough(cleared, room)) return cleared;
    return this.summarized(withoutVendor(cleared), room, reason, pinned);
  }

  /** @returns undefined if the vendor cannot, or did not make it short enough */
  private async byVendor(
    cleared: RunCompaction,
    room: Room,
    reason: CompactionReason,
    pinned: ReadonlySet<number>,
  ): Promise<RunCompaction | undefined> {
    const { run, options, compaction, provider } = this.context;
    if (compaction === false || !isVendorAsked(compaction, this.capabilities())) return undefined;
    const end = summarizedParts(run.transcript, cleared, room, reason !== 'window').at(-1);
    if (end === undefined) return undefined;
    const input = historyUpTo(run.transcript, run.current.compaction, pinned, end);
    const { reader, tools = options.tools, findableTools } = this;
    const own = {
      ...this.ownOptions(),
      ...omitUndefined({ tools, findableTools, compactedBy: reader }),
      promptCache: { key: this.cacheKey },
    };
    try {
      const request = vendorCompactionOptions(options, input, own);
      const response = await this.cancellation.race(provider.generate(run.userId, request));
      this.target.dispatch({ type: 'modelBilled', bill: response });
      const vendor = vendorCompactionIn(response);
      if (vendor === undefined) return undefined;
      const { summary: _, ...rest } = cleared;
      const next = { ...rest, summarizedUpTo: end, vendor };
      return room.tokensWith(next) <= room.limit * VENDOR_SHARE ? next : undefined;
    } catch (error) {
      this.cancellation.throwIfCancelled();
      const billed = billedResponse(error);
      if (billed !== undefined) this.target.dispatch({ type: 'modelBilled', bill: billed });
      // The run waits for its store, and is compacted without the vendor if that fails.
      if (!isLLMError(error) || isStoreOutage(error)) throw error;
      return undefined;
    }
  }

  /** Each part that was summarized is stored at once, so that it is not summarized again after a crash. */
  private async summarized(
    cleared: RunCompaction,
    room: Room,
    reason: CompactionReason,
    pinned: ReadonlySet<number>,
  ): Promise<RunCompaction> {
    const { transcript } = this.context.run;
    const parts = summarizedParts(transcript, cleared, room, reason !== 'window');
    // Only this run keeps it as it is, and those that continue the conversation have the summary.
    const question = lastQuestion(transcript, this.context.options.input.length);
    let next = cleared;
    for (const end of parts) {
      const items = transcript.slice(next.summarizedUpTo, end);
      const from = next.summarizedUpTo;
      const seen = items.filter((_item, index) => !pinned.has(from + index) || from + index === question);
      if (next !== cleared) {
        // Not complete yet.
        this.record({ ...next, count: next.count - 1 });
        await this.cancellation.race(this.target.stored());
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
      this.target.dispatch({ type: 'modelBilled', bill: response });
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
    const { options, compaction } = this.context;
    const { providerId, route, routeTargets, user, wire, timeout } = options;
    const model = (compaction === false ? undefined : compaction.model) ?? options.model;
    const ofModel = model === options.model ? { providerId, route, routeTargets, wire } : {};
    const given = { ...ofModel, user, timeout, model, instructions: SUMMARY_INSTRUCTIONS, input: text };
    const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    return withOwnOptions(normalizeOptions(present), this.ownOptions());
  }

  private ownOptions(): Pick<NormalizedOptions, 'executionId' | 'origin'> & { readonly signal: AbortSignal } {
    const { run, options } = this.context;
    const source = options.origin?.source === 'job' ? 'job' : 'run';
    const { executionId } = run;
    const origin = { ...options.origin, source, executionId } as const;
    return { signal: this.cancellation.signal, executionId, origin };
  }

  private record(compaction: RunCompaction, report?: CompactionReport): void {
    this.target.dispatch({ type: 'historyCompacted', compaction, ...(report && { report }) });
    this.use(compaction);
    this.reported = undefined;
  }

  /** Sends what the compaction leaves, and offers the tool that reads the rest. */
  private use(compaction: RunCompaction): void {
    const { run } = this.context;
    this.head = this.headOf(compaction);
    if (compaction.limit !== undefined) this.capacity = { ...this.capacity, limit: compaction.limit };
    if (compaction.recall === undefined) return;
    const pageTokens = (this.capacity?.limit ?? Infinity) / 8;
    const characters = Math.max(1_000, Math.floor(pageTokens * CHARACTERS_PER_TOKEN));
    this.context.tools = withRecall(this.context.tools, compaction.recall, () => run.transcript, characters);
  }

  private headOf(compaction: RunCompaction): readonly Item[] {
    return compactedHistory(this.context.run.transcript, compaction, this.pinned());
  }

  private pinned(): ReadonlySet<number> {
    const { run, options, compaction } = this.context;
    return pinnedItems(run.transcript, options.input.length, compaction === false ? [] : compaction.pinned);
  }

  private roomOf(limit: number, before: number, pinned: ReadonlySet<number>): Room {
    const { run } = this.context;
    const prefix = this.prefixTokens();
    const estimated = prefix + historyTokens(this.history());
    // A vendor that counts far fewer tokens than estimated has cached images, or stores the history.
    const ratio = this.reported === undefined ? 1 : Math.min(3, Math.max(0.5, before / estimated));
    const tokensWith = (compaction: RunCompaction): number =>
      (prefix + historyTokens(compactedHistory(run.transcript, compaction, pinned))) * ratio;
    return { limit, ratio, tokensWith };
  }

  /** A run that answers in a format may not be able to call tools, and one that has none may not want any. */
  private recallName(): string | undefined {
    const { run, options, tools, executor } = this.context;
    if (run.current.compaction?.recall !== undefined) return run.current.compaction.recall;
    const isFree = options.response_format === undefined || options.response_format.type === 'text';
    const offersFunctions = tools.names.length > 0;
    if (!offersFunctions && (tools.tools.length > 0 || !isFree)) return undefined;
    if (options.tool_choice === 'none' || this.capabilities()?.supportsTools === false) return undefined;
    return recallName(tools, executor);
  }

  private noteUsage({ usage, output }: LLMResponse, sentUpTo: number): void {
    const { input_tokens, output_tokens } = usage;
    const upTo = sentUpTo + output.length;
    this.reported = input_tokens > 0 ? { tokens: input_tokens + output_tokens, upTo, sentUpTo } : undefined;
  }

  private prefixTokens(): number {
    const { options, tools } = this.context;
    return prefixTokens({ ...options, tools: this.tools ?? tools.tools });
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

  private capacityOf(capabilities: ModelCapabilities | undefined): NonNullable<RunCompactor['capacity']> {
    const { options, compaction } = this.context;
    const { window: given, threshold = DEFAULT_THRESHOLD } = compaction === false ? {} : compaction;
    const known = capabilities?.isWindowUnknown === true ? undefined : capabilities?.maxTokens;
    const window = given ?? known;
    if (window === undefined || !(window > 0)) return { limit: undefined };
    const most = window * RESPONSE_SHARE;
    const response = options.max_output_tokens ?? Math.min(capabilities?.maxOutputTokens ?? most, most);
    const limit = Math.floor(Math.max(window * RESPONSE_SHARE, Math.min(window * threshold, window - response)));
    return { limit, window };
  }
}
