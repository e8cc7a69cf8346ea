/** Runs guardrails in order: what one changes is what the next one checks. */
import { randomBytes } from 'node:crypto';
import { consoleLogger } from '../../../log/consoleLogger';
import { outputTextOf } from '../../ai/domain/entities/Response';
import { GuardrailError, GuardrailFailureError, LLMInvalidRequestError } from '../../ai/domain/errors/LLMErrors';
import { safeMessage } from '../../ai/domain/errors/safeText';
import type { Guardrail } from '../../ai/domain/interfaces/Guardrail';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import type { GuardrailAnnotation, GuardrailStage } from '../../ai/domain/types/GuardrailAnnotation';
import type { FilteredText, GuardedRequest, GuardrailContext, TextFilter } from '../../ai/domain/types/GuardrailTypes';
import type { LLMResponse } from '../../ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../ai/domain/types/VendorTypes';
import { canonicalJson } from '../../ai/domain/util/canonicalJson';
import { fieldsOf } from '../../ai/domain/util/json';

export interface GuardedCall {
  readonly context: GuardrailContext;
  readonly annotate: (annotation: GuardrailAnnotation) => void;
}

const TIMEOUT_MS = 5_000;
const MAX_TIMEOUT_MS = 600_000;

const HOOKS = ['before', 'during', 'after'] as const satisfies readonly (keyof Guardrail)[];

export class GuardrailChain {
  /** Streams are read, so that they cannot be relayed as they are. */
  readonly readsOutput: boolean;
  readonly filtersText: boolean;
  readonly readsRequests: boolean;
  readonly holdsStreams: boolean;
  /** Identifies what the guardrails decide, for cached responses. */
  readonly version: string;
  private readonly guardrails: readonly Guardrail[];
  private readonly logger: Logger;

  /** @throws LLMInvalidRequestError for a guardrail without a name or a hook, or with an invalid timeout */
  constructor(guardrails: readonly Guardrail[], logger: Logger = consoleLogger) {
    guardrails.forEach((guardrail, index) => {
      const path = `guardrails[${index}]`;
      // Boundary: one that is misspelt would let everything pass.
      const fields = fieldsOf(guardrail);
      const { name, timeout = TIMEOUT_MS } = fields;
      const hooks = HOOKS.map((hook) => fields[hook]).filter((hook) => hook !== undefined);
      if (typeof name !== 'string' || name === '')
        throw new LLMInvalidRequestError(`"${path}.name" must be a string that is not empty.`, { path });
      if (hooks.length === 0 || hooks.some((hook) => typeof hook !== 'function'))
        throw new LLMInvalidRequestError(`"${path}" must have a function "before", "during" or "after".`, { path });
      if (!(typeof timeout === 'number' && timeout > 0 && timeout <= MAX_TIMEOUT_MS))
        throw new LLMInvalidRequestError(
          `"${path}.timeout" must be a number of milliseconds above 0, at most ${MAX_TIMEOUT_MS}.`,
          { path },
        );
    });
    this.guardrails = guardrails;
    this.logger = logger;
    this.readsRequests = guardrails.some((guardrail) => guardrail.before !== undefined);
    this.filtersText = guardrails.some((guardrail) => guardrail.during !== undefined);
    this.readsOutput = this.filtersText || guardrails.some((guardrail) => guardrail.after !== undefined);
    this.holdsStreams = guardrails.some((guardrail) => guardrail.after !== undefined && guardrail.holdsStream === true);
    this.version = canonicalJson(guardrails.map(({ name, version = '' }) => [name, version]));
  }

  /**
   * @returns the request as it is to be sent, and which guardrails have changed it
   * @throws GuardrailError
   */
  async before(
    request: GuardedRequest,
    call: GuardedCall,
  ): Promise<{ readonly request: GuardedRequest; readonly changedBy: readonly string[] }> {
    const changedBy: string[] = [];
    let current = request;
    for (const guardrail of this.guardrails) {
      if (guardrail.before === undefined) continue;
      const checked = current;
      const verdict = await this.run(guardrail, 'before', call, () => guardrail.before?.(checked, call.context));
      if (verdict?.change !== undefined) {
        current = { ...current, ...verdict.change };
        changedBy.push(guardrail.name);
      }
      this.report(guardrail, 'before', call, { ...verdict, isChanged: verdict?.change !== undefined });
    }
    return { request: current, changedBy };
  }

  /** Filters one text through all guardrails. */
  openText(call: GuardedCall): ChainedFilter {
    const filters = this.guardrails.flatMap((guardrail) => {
      const filter = this.createFilter(guardrail, call);
      return filter === undefined ? [] : [{ guardrail, filter }];
    });
    return new ChainedFilter(filters, {
      run: (guardrail, step) => this.filter(guardrail, call, step),
      settle: (guardrail, filtered) => this.settleText(guardrail, filtered, call),
    });
  }

  /** @param isSent the response was streamed already, so that it cannot be changed. @throws GuardrailError */
  async after(response: LLMResponse, call: GuardedCall, isSent: boolean): Promise<LLMResponse> {
    let current = response;
    for (const guardrail of this.guardrails) {
      if (guardrail.after === undefined) continue;
      const checked = current;
      const verdict = await this.run(guardrail, 'after', call, async () => {
        const decided = await guardrail.after?.(checked, call.context);
        if (decided?.change !== undefined && isSent)
          throw new Error('It changed a response that was streamed already. Set "holdsStream".');
        return decided;
      });
      if (verdict?.change !== undefined) current = withMessageIds(verdict.change);
      this.report(guardrail, 'after', call, { ...verdict, isChanged: verdict?.change !== undefined });
    }
    return current;
  }

  private createFilter(guardrail: Guardrail, call: GuardedCall): TextFilter | undefined {
    try {
      return guardrail.during?.(call.context);
    } catch (error) {
      this.onFailure(guardrail, 'during', call, error);
      return undefined;
    }
  }

  /** Without a promise for filters that have none. */
  private filter(
    guardrail: Guardrail,
    call: GuardedCall,
    step: () => FilteredText | Promise<FilteredText>,
  ): FilteredText | undefined | Promise<FilteredText | undefined> {
    try {
      const filtered = step();
      return filtered instanceof Promise ? this.run(guardrail, 'during', call, () => filtered) : filtered;
    } catch (error) {
      this.onFailure(guardrail, 'during', call, error);
      return undefined;
    }
  }

  private settleText(guardrail: Guardrail, filtered: FilteredText, call: GuardedCall): string {
    if (typeof filtered === 'string') return filtered;
    this.report(guardrail, 'during', call, { ...filtered, isChanged: filtered.annotate !== undefined });
    return filtered.text;
  }

  private async run<T>(
    guardrail: Guardrail,
    stage: GuardrailStage,
    call: GuardedCall,
    hook: () => T | Promise<T>,
  ): Promise<T | undefined> {
    const { signal } = call.context;
    try {
      return await withTimeout(hook(), guardrail.timeout ?? TIMEOUT_MS);
    } catch (error) {
      signal?.throwIfAborted();
      this.onFailure(guardrail, stage, call, error);
      return undefined;
    }
  }

  /** @throws GuardrailFailureError unless the guardrail lets calls pass on errors */
  private onFailure({ name, onError }: Guardrail, stage: GuardrailStage, call: GuardedCall, error: unknown): void {
    const reason = safeMessage(error instanceof Error ? error.message : String(error));
    call.annotate({ guardrail: name, stage, action: 'error', reason });
    this.logger.error(`The guardrail "${name}" failed ${STAGES[stage]}.`, error);
    if (onError === 'allow') return;
    throw new GuardrailFailureError(`The guardrail "${name}" failed, so the call was denied.`, {
      guardrail: name,
      cause: error,
    });
  }

  /** @throws GuardrailError for a denial */
  private report(
    { name }: Guardrail,
    stage: GuardrailStage,
    call: GuardedCall,
    {
      deny,
      annotate,
      isChanged,
    }: { readonly deny?: string; readonly annotate?: JsonObject; readonly isChanged: boolean },
  ): void {
    const details = annotate === undefined ? {} : { details: annotate };
    if (deny !== undefined) {
      call.annotate({ guardrail: name, stage, action: 'deny', reason: deny, ...details });
      const what = stage === 'before' ? 'request' : 'response';
      throw new GuardrailError(`The guardrail "${name}" denied the ${what}: ${deny}`, {
        guardrail: name,
      });
    }
    if (isChanged) call.annotate({ guardrail: name, stage, action: 'change', ...details });
    else if (annotate !== undefined) call.annotate({ guardrail: name, stage, action: 'annotate', ...details });
  }
}

const STAGES: Readonly<Record<GuardrailStage, string>> = {
  before: 'on a request',
  during: 'on the text of a response',
  after: 'on a response',
};

interface FilterPorts {
  readonly run: (
    guardrail: Guardrail,
    step: () => FilteredText | Promise<FilteredText>,
  ) => FilteredText | undefined | Promise<FilteredText | undefined>;
  readonly settle: (guardrail: Guardrail, filtered: FilteredText) => string;
}

interface GuardrailFilter {
  readonly guardrail: Guardrail;
  readonly filter: TextFilter;
}

/** One text on its way through the filters of all guardrails. */
export class ChainedFilter {
  private readonly filters: readonly GuardrailFilter[];
  private readonly ports: FilterPorts;

  constructor(filters: readonly GuardrailFilter[], ports: FilterPorts) {
    this.filters = filters;
    this.ports = ports;
  }

  /** @returns what may be passed on by now. @throws GuardrailError */
  async push(text: string): Promise<string> {
    let current = text;
    for (const each of this.filters) current = await this.pass(each, current);
    return current;
  }

  /** @returns the rest. @throws GuardrailError */
  async end(): Promise<string> {
    let rest = '';
    for (const each of this.filters) {
      const released = rest === '' ? '' : await this.pass(each, rest);
      const last = await this.ports.run(each.guardrail, () => each.filter.end());
      rest = released + (last === undefined ? '' : this.ports.settle(each.guardrail, last));
    }
    return rest;
  }

  /** A filter that failed, of a guardrail that allows it, lets the text pass. */
  private async pass({ guardrail, filter }: GuardrailFilter, text: string): Promise<string> {
    const filtered = await this.ports.run(guardrail, () => filter.push(text));
    return filtered === undefined ? text : this.ports.settle(guardrail, filtered);
  }
}

/** The Responses API sends every item with an id. */
function withMessageIds(response: LLMResponse): LLMResponse {
  return {
    ...response,
    output_text: outputTextOf(response.output),
    output: response.output.map((item) =>
      item.type === 'message' && item.id === undefined
        ? { ...item, id: `msg_${randomBytes(16).toString('hex')}` }
        : item,
    ),
  };
}

async function withTimeout<T>(decided: T | Promise<T>, timeout: number): Promise<T> {
  if (!(decided instanceof Promise)) return decided;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`It took longer than ${timeout} ms.`)), timeout);
  });
  try {
    return await Promise.race([decided, late]);
  } finally {
    clearTimeout(timer);
  }
}
