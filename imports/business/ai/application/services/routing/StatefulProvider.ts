/**
 * Makes `previous_response_id`, `store` and deletion mean the same on every host: where the host keeps no
 * responses, a store of ours does, and the conversation is sent again.
 */
import { randomUUID } from 'node:crypto';
import { LLMServerError, UnsupportedFeatureError } from '../../../domain/errors/LLMErrors';
import type { ILLMProvider, ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import type { ResponseStore } from '../../../domain/interfaces/ResponseStore';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { FunctionCallItem, InputItem, LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import type { Loss, WireName } from '../../../domain/types/VendorTypes';
import { normalizeInput } from '../ContentNormalizer';
import { normalizeResponse } from './normalizeResponse';
import { answeredCalls, loadResponseHistory, unknownResponseError } from '../../../domain/responseHistory';

export interface StatefulProviderOptions {
  readonly provider: ILLMProvider;
  readonly store: ResponseStore;
  /**
   * Ids that the store does not have are left to hosts that keep responses themselves. Right where ids come from
   * the program's own records; ids from outside would reach what another user of the same account stored. Default
   * false.
   */
  readonly trustsIds?: boolean;
}

/** One request, with what is remembered of it when it is answered. */
interface Turn {
  readonly userId: string;
  /** What the host is sent. */
  readonly request: GenerateOptions;
  readonly input: readonly InputItem[];
  readonly previousId: string | undefined;
  readonly answeredCalls: readonly FunctionCallItem[];
  readonly losses: readonly Loss[];
  readonly isReplayed: boolean;
  readonly isStored: boolean;
  readonly keptByProvider: boolean;
}

export class StatefulProvider implements ILLMProvider {
  private readonly provider: ILLMProvider;
  private readonly store: ResponseStore;
  private readonly trustsUnknownIds: boolean;

  constructor({ provider, store, trustsIds = false }: StatefulProviderOptions) {
    this.provider = provider;
    this.store = store;
    this.trustsUnknownIds = trustsIds;
  }

  getProviderName(): string {
    return this.provider.getProviderName();
  }

  /**
   * @throws LLMInvalidRequestError for a previous response that is unknown, or another user's
   * @throws LLMServerError when the answer could not be stored; it is in `.response`
   */
  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    const turn = await this.prepareTurn(userId, options);
    const response = normalizeResponse(await this.provider.generate(userId, turn.request), this.getProviderName());
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
        const response = normalizeResponse(event.response, this.getProviderName());
        id ??= await this.idFor(turn, response.id);
        yield { ...event, response: await this.storeResponse(turn, response, id) };
      } else yield event;
    }
  }

  validateAccess(userId: string): Promise<boolean> {
    return this.provider.validateAccess(userId);
  }

  getCapabilities(model: string, wire?: WireName): ModelCapabilities {
    return { ...this.provider.getCapabilities(model, wire), keepsState: true };
  }

  /** Here, and at the host where that keeps it too. */
  async deleteResponse(userId: string, responseId: string): Promise<void> {
    const wasStored = await this.store.remove(userId, responseId);
    if (!wasStored && !this.trustsUnknownIds) return;
    try {
      await this.provider.deleteResponse?.(userId, responseId);
    } catch (error) {
      // A host that keeps nothing has nothing to delete.
      if (!(error instanceof UnsupportedFeatureError)) throw error;
    }
  }

  private async prepareTurn(userId: string, options: GenerateOptions): Promise<Turn> {
    const { previous_response_id: previousId, store, ...rest } = options;
    const keptByProvider = this.provider.getCapabilities(options.model ?? '', options.wire).keepsState;
    const isStored = store ?? previousId !== undefined;
    const input = normalizeInput(options.input);
    const turn = { userId, input, previousId, isStored, keptByProvider };
    const forHost = keptByProvider ? { store: isStored } : {};
    if (previousId === undefined) {
      const request = { ...rest, input, ...(store === undefined ? {} : forHost) };
      return { ...turn, request, answeredCalls: [], losses: [], isReplayed: false };
    }
    const stored = await this.store.find(userId, previousId);
    if (stored === undefined && !(keptByProvider && this.trustsUnknownIds)) throw unknownResponseError(previousId);
    if (keptByProvider && stored?.keptByProvider !== false) {
      const history = stored?.response.output ?? [];
      return {
        ...turn,
        request: { ...rest, input, ...forHost, previous_response_id: previousId },
        answeredCalls: answeredCalls(history, input),
        losses: [],
        isReplayed: false,
      };
    }
    const { items, losses } = await loadResponseHistory(this.store, userId, previousId);
    return {
      ...turn,
      request: { ...rest, input: [...items, ...input], ...forHost },
      answeredCalls: answeredCalls(items, input),
      losses,
      isReplayed: true,
    };
  }

  private async storeResponse(turn: Turn, given: LLMResponse, id: string): Promise<LLMResponse> {
    const response = asAnswered(turn, given, id);
    if (!turn.isStored) return response;
    try {
      await this.store.save({
        id,
        userId: turn.userId,
        providerId: this.provider.getProviderName(),
        keptByProvider: turn.keptByProvider,
        ...(turn.previousId === undefined ? {} : { previousId: turn.previousId }),
        input: turn.input,
        ...(turn.answeredCalls.length === 0 ? {} : { answeredCalls: turn.answeredCalls }),
        response,
      });
    } catch (cause) {
      throw new LLMServerError('The answer could not be stored, so no conversation can go on from it.', {
        cause,
        response,
        retryable: false,
      });
    }
    return response;
  }

  /** Some hosts give every answer the same id, or none; what is stored needs one of its own. */
  private async idFor({ userId, isStored, keptByProvider }: Turn, given: string): Promise<string> {
    if (!isStored || keptByProvider) return given;
    const isUsable = given !== '' && (await this.store.find(userId, given)) === undefined;
    return isUsable ? given : `resp_${randomUUID().replaceAll('-', '')}`;
  }
}

/** The answer as a host that keeps responses would have given it. */
function asAnswered({ previousId, isReplayed, losses }: Turn, response: LLMResponse, id: string): LLMResponse {
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
