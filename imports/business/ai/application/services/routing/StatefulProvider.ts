/**
 * Decorates a provider so that `previous_response_id`, `store` and deletion mean the same with every vendor: where the
 * vendor stores no responses, our own store does, and the conversation is replayed.
 */
import { randomUUID } from 'node:crypto';
import { LLMInvalidRequestError, LLMServerError, UnsupportedFeatureError } from '../../../domain/errors/LLMErrors';
import { TooLargeToStoreError } from '../../../domain/errors/TooLargeToStoreError';
import type { ILLMProvider, ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import { ProviderDecorator } from '../../../domain/interfaces/ProviderDecorator';
import type { ResponseStore } from '../../../domain/interfaces/ResponseStore';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { FunctionCallItem, InputItem, LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import type { Loss, WireName } from '../../../domain/types/VendorTypes';
import { normalizeInput } from '../ContentNormalizer';
import { NormalizedProvider } from './NormalizedProvider';
import { answeredCalls, loadResponseHistory, unknownResponseError } from '../../../domain/entities/responseHistory';

export interface StatefulProviderOptions {
  readonly provider: ILLMProvider;
  readonly store: ResponseStore;
  /**
   * Forwards ids that are not in the store to vendors that store responses themselves. Safe only if ids come from the
   * program's own records: an id from outside could name a response of another user of the same account. Default
   * false.
   */
  readonly trustsIds?: boolean;
}

/** One request, and what is needed to store its response. */
interface Turn {
  readonly userId: string;
  /** What the provider is sent. */
  readonly request: GenerateOptions;
  readonly input: readonly InputItem[];
  readonly previousId: string | undefined;
  readonly answeredCalls: readonly FunctionCallItem[];
  readonly losses: readonly Loss[];
  readonly isReplayed: boolean;
  readonly isStored: boolean;
  readonly isStoredByProvider: boolean;
}

export class StatefulProvider extends ProviderDecorator {
  private readonly store: ResponseStore;
  private readonly trustsUnknownIds: boolean;

  constructor({ provider, store, trustsIds = false }: StatefulProviderOptions) {
    super(new NormalizedProvider(provider));
    this.store = store;
    this.trustsUnknownIds = trustsIds;
  }

  /**
   * @throws LLMInvalidRequestError if the previous response is unknown or belongs to another user
   * @throws LLMServerError if the response could not be stored; it is then in `.response`
   */
  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    const turn = await this.prepareTurn(userId, options);
    const response = await this.provider.generate(userId, turn.request);
    return this.storeResponse(turn, response, await this.idFor(turn, response.id));
  }

  async *stream(userId: string, options: GenerateOptions): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    const turn = await this.prepareTurn(userId, options);
    let id: string | undefined;
    for await (const event of this.provider.stream(userId, turn.request)) {
      if (event.type === 'response.created') {
        id = await this.idFor(turn, event.id);
        yield { ...event, id };
      } else if (event.type === 'response.completed') {
        id ??= await this.idFor(turn, event.response.id);
        yield { ...event, response: await this.storeResponse(turn, event.response, id) };
      } else yield event;
    }
  }

  override getCapabilities(model: string, wire?: WireName): ModelCapabilities {
    return { ...this.provider.getCapabilities(model, wire), keepsState: true };
  }

  /** Deletes a response from the store, and at the vendor if that stores responses too. */
  override async deleteResponse(userId: string, responseId: string): Promise<void> {
    const wasStored = await this.store.remove(userId, responseId);
    if (!wasStored && !this.trustsUnknownIds) return;
    try {
      await this.provider.deleteResponse?.(userId, responseId);
    } catch (error) {
      // A vendor that stores nothing has nothing to delete.
      if (!(error instanceof UnsupportedFeatureError)) throw error;
    }
  }

  private async prepareTurn(userId: string, options: GenerateOptions): Promise<Turn> {
    const { previous_response_id: previousId, store, ...rest } = options;
    const isStoredByProvider = this.provider.getCapabilities(options.model ?? '', options.wire).keepsState;
    const isStored = store ?? previousId !== undefined;
    const input = normalizeInput(options.input);
    const turn = { userId, input, previousId, isStored, isStoredByProvider };
    const storeOption = isStoredByProvider ? { store: isStored } : {};
    if (previousId === undefined) {
      const request = { ...rest, input, ...(store === undefined ? {} : storeOption) };
      return { ...turn, request, answeredCalls: [], losses: [], isReplayed: false };
    }
    const stored = await this.store.find(userId, previousId);
    if (stored === undefined && !(isStoredByProvider && this.trustsUnknownIds)) throw unknownResponseError(previousId);
    if (isStoredByProvider && stored?.keptByProvider !== false) {
      const history = stored?.response.output ?? [];
      return {
        ...turn,
        request: { ...rest, input, ...storeOption, previous_response_id: previousId },
        answeredCalls: answeredCalls(history, input),
        losses: [],
        isReplayed: false,
      };
    }
    const { items, losses } = await loadResponseHistory(this.store, userId, previousId);
    return {
      ...turn,
      request: { ...rest, input: [...items, ...input], ...storeOption },
      answeredCalls: answeredCalls(items, input),
      losses,
      isReplayed: true,
    };
  }

  private async storeResponse(turn: Turn, given: LLMResponse, id: string): Promise<LLMResponse> {
    const response = asStateful(turn, given, id);
    if (!turn.isStored) return response;
    try {
      await this.store.save({
        id,
        userId: turn.userId,
        providerId: this.provider.getProviderName(),
        keptByProvider: turn.isStoredByProvider && response.vendor.omitted_calls === undefined,
        ...omitUndefined({ previousId: turn.previousId }),
        input: turn.input,
        ...(turn.answeredCalls.length === 0 ? {} : { answeredCalls: turn.answeredCalls }),
        response,
      });
    } catch (cause) {
      if (cause instanceof TooLargeToStoreError)
        throw new LLMInvalidRequestError(`${cause.message} No conversation can continue from it.`, { cause, response });
      throw new LLMServerError('Could not store the response, so no conversation can continue from it.', {
        cause,
        response,
        retryable: false,
      });
    }
    return response;
  }

  /** Some servers give every response the same id, or none. A stored response needs a unique one. */
  private async idFor({ userId, isStored, isStoredByProvider }: Turn, given: string): Promise<string> {
    if (!isStored || isStoredByProvider) return given;
    const isUsable = given !== '' && (await this.store.find(userId, given)) === undefined;
    return isUsable ? given : `resp_${randomUUID().replaceAll('-', '')}`;
  }
}

/** The response as a vendor that stores responses would have returned it. */
function asStateful({ previousId, isReplayed, losses }: Turn, response: LLMResponse, id: string): LLMResponse {
  if (!isReplayed && id === response.id) return response;
  const vendor =
    losses.length === 0 ? response.vendor : { ...response.vendor, losses: [...response.vendor.losses, ...losses] };
  return {
    ...response,
    id,
    vendor,
    ...(isReplayed && previousId !== undefined ? { previous_response_id: previousId } : {}),
  };
}
