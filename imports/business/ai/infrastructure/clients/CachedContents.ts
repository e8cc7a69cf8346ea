/**
 * The beginnings of requests that Google stores as cached contents, so that later requests name them instead of sending
 * them again. They are found again by their bytes, model and credential: nobody's are used with another's account. They
 * expire by themselves. https://ai.google.dev/api/caching
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { FairLruMap } from '../../domain/util/FairLruMap';
import { isLLMError } from '../../domain/errors/LLMErrors';
import { fieldsOf } from '../../domain/util/json';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { CachedPrefix, JsonObject } from '../../domain/types/VendorTypes';
import { pickFields } from './readTokenCount';
import type { VendorCall, VendorHttpResponse } from './VendorClient';

/** Creates a cached content. @throws as `VendorClient.send` */
type CreateCachedContent = (
  call: Pick<VendorCall, 'credential' | 'userId' | 'model'>,
  body: JsonObject,
) => Promise<VendorHttpResponse>;

const SECONDS_PER_HOUR = 3_600;
const MAX_ENTRIES = 1_000;
/** Below Google's smallest minimum of 1,024 tokens, unless media are in it. */
const MIN_BYTES = 2_048;
/** A longer prefix is stored only if it has so many bytes more than one that is stored already. */
const MIN_GROWTH_BYTES = 8_192;
/** Milliseconds. A cached content that is about to expire is not named any more. */
const EXPIRY_MARGIN = 30_000;
/** Milliseconds for which a failure is remembered. */
const FAILURE_LIFETIME = 60_000;
/** Milliseconds that a call waits for its prefix to be stored; at most half of the call's own time. */
const MAX_WAIT = 30_000;

/** The fields that a cached content has and a request that names it must not have. */
const HEAD_FIELDS = ['systemInstruction', 'tools', 'toolConfig'] as const;

type Outcome = { readonly name: string; readonly tokens: number } | { readonly failure: string };

interface Entry {
  readonly outcome: Promise<Outcome>;
  /** Unix time in milliseconds; Infinity until there is an outcome. */
  expiresAt: number;
  /** Once it is known. */
  isFailure?: boolean;
}

interface Candidate {
  /** The token of the credential: accounts share the places fairly. */
  readonly account: string;
  readonly key: string;
  /** How many of the request's contents it has. */
  readonly length: number;
  readonly bytes: number;
}

interface Found {
  readonly candidate: Candidate;
  readonly entry: Entry;
  readonly name: string;
}

export class CachedContents {
  private readonly entries = new FairLruMap<Entry>({ entries: MAX_ENTRIES });
  private readonly create: CreateCachedContent;

  constructor(create: CreateCachedContent) {
    this.create = create;
  }

  /**
   * Sends the call with the name of its stored beginning in place of that, or whole if it cannot be stored.
   * @param send sends one request
   * @throws as `send` does, except that the cached content is gone
   */
  async send(
    call: VendorCall,
    prefix: CachedPrefix,
    send: (call: VendorCall) => Promise<VendorHttpResponse>,
  ): Promise<VendorHttpResponse> {
    const startedAt = Date.now();
    const candidates = candidatesOf(call, prefix);
    // A content that is gone is made anew, once.
    for (const _ of [1, 2]) {
      const found = await this.find(call, prefix, candidates);
      if (found === undefined) break;
      try {
        return await send(withRemainingTime({ ...call, body: bodyAfter(call.body, found) }, startedAt));
      } catch (error) {
        if (!isOfCachedContent(error)) throw error;
        this.forget(found);
      }
    }
    return send(withRemainingTime(call, startedAt));
  }

  private async find(
    call: VendorCall,
    { lifetime }: CachedPrefix,
    candidates: readonly Candidate[],
  ): Promise<Found | undefined> {
    const longest = candidates.at(-1);
    if (longest === undefined) return undefined;
    if (longest.bytes < MIN_BYTES && !hasMedia(call.body)) {
      call.onWarning?.('The prompt was not cached: it is too short up to the breakpoint.');
      return undefined;
    }
    const stored = candidates.findLast((each) => this.live(each)?.isFailure === false);
    const wanted = stored !== undefined && longest.bytes - stored.bytes < MIN_GROWTH_BYTES ? stored : longest;
    const found = await this.named(call, wanted, lifetime);
    if (found !== undefined || stored === undefined || stored === wanted) return found;
    return this.named(call, stored, lifetime);
  }

  /** Waits for the name, which concurrent calls share. */
  private async named(call: VendorCall, candidate: Candidate, lifetime: number): Promise<Found | undefined> {
    const entry = this.live(candidate) ?? this.store(call, candidate, lifetime);
    const outcome = await within(entry.outcome, call);
    if (outcome !== undefined && 'name' in outcome) return { candidate, entry, name: outcome.name };
    call.onWarning?.(`The prompt was not cached: ${outcome?.failure ?? 'storing it takes too long.'}`);
    return undefined;
  }

  private live({ account, key }: Candidate): Entry | undefined {
    const entry = this.entries.get(account, key);
    return entry !== undefined && entry.expiresAt > Date.now() ? entry : undefined;
  }

  /** Not with the signal of the call: others may wait for it. */
  private store(call: VendorCall, { account, key, length }: Candidate, lifetime: number): Entry {
    const startedAt = Date.now();
    const entry: Entry = { outcome: this.request(call, length, lifetime), expiresAt: Infinity };
    this.entries.set(account, key, entry);
    void entry.outcome.then((outcome) => {
      entry.isFailure = 'failure' in outcome;
      if ('tokens' in outcome) call.onStored?.((outcome.tokens * lifetime) / SECONDS_PER_HOUR);
      entry.expiresAt = entry.isFailure ? Date.now() + FAILURE_LIFETIME : startedAt + lifetime * 1_000 - EXPIRY_MARGIN;
    });
    return entry;
  }

  private async request(call: VendorCall, length: number, lifetime: number): Promise<Outcome> {
    const { model, body, credential, userId } = call;
    try {
      const response = await this.create(omitUndefined({ model, credential, userId }), {
        ...pickFields(body, HEAD_FIELDS),
        contents: contentsOf(body).slice(0, length),
        ttl: `${lifetime}s`,
      });
      const { name, usageMetadata } = fieldsOf(JSON.parse(await response.text()));
      if (typeof name !== 'string') return { failure: 'Google has not named the cached content.' };
      const tokens = Number(fieldsOf(usageMetadata).totalTokenCount);
      return { name, tokens: Number.isFinite(tokens) ? tokens : 0 };
    } catch (error) {
      return { failure: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Unless it is another one by now. */
  private forget({ candidate: { account, key }, entry }: Found): void {
    if (this.entries.get(account, key) === entry) this.entries.delete(account, key);
  }
}

/** From short to long. */
function candidatesOf(call: VendorCall, { ends, lifetime }: CachedPrefix): readonly Candidate[] {
  const { body, model, credential } = call;
  const head = JSON.stringify(pickFields(body, HEAD_FIELDS));
  const hash = createHash('sha256');
  hash.update(JSON.stringify([credential?.kind, credential?.token, model, lifetime, head]));
  let bytes = Buffer.byteLength(head);
  let length = 0;
  return ends.map((end) => {
    for (const content of contentsOf(body).slice(length, end)) {
      const text = JSON.stringify(content);
      hash.update(text).update('\n');
      bytes += Buffer.byteLength(text);
    }
    length = end;
    return { account: credential?.token ?? '', key: hash.copy().digest('base64url'), length, bytes };
  });
}

function bodyAfter(body: JsonObject, { candidate, name }: Found): JsonObject {
  const rest = Object.entries(body).filter(([field]) => !(HEAD_FIELDS as readonly string[]).includes(field));
  return { ...Object.fromEntries(rest), contents: contentsOf(body).slice(candidate.length), cachedContent: name };
}

function contentsOf({ contents }: JsonObject): readonly unknown[] {
  return Array.isArray(contents) ? contents : [];
}

function hasMedia(body: JsonObject): boolean {
  return /"(?:fileData|inlineData)":/.test(JSON.stringify(body.contents));
}

/** Google answers 403 to the name of a cached content that has expired, and 400 to one that it cannot use. */
function isOfCachedContent(error: unknown): boolean {
  return isLLMError(error) && [400, 403, 404].includes(error.status ?? 0) && /cached[ _]?content/i.test(error.message);
}

function withRemainingTime(call: VendorCall, startedAt: number): VendorCall {
  const { timeout } = call;
  return timeout === undefined ? call : { ...call, timeout: Math.max(1, timeout - (Date.now() - startedAt)) };
}

/** @returns undefined if it takes too long. @throws the reason of the call's signal */
async function within<T>(work: Promise<T>, { signal, timeout = Infinity }: VendorCall): Promise<T | undefined> {
  const ended = new AbortController();
  const signals = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]);
  try {
    const limit = delay(Math.min(MAX_WAIT, timeout / 2), undefined, { signal: signals });
    return await Promise.race([work, limit]);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    ended.abort();
  }
}
