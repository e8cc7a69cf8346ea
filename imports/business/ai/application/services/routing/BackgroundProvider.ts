/**
 * Decorates the router so that calls in the background are found again after a crash. A stream of such a call has its
 * events at the end.
 */
import { EventStream } from '../../../domain/events/EventStream';
import type { BackgroundCallStore, BackgroundTurn } from '../../../domain/interfaces/BackgroundCalls';
import type { DefaultedProvider } from '../../../domain/interfaces/ILLMProvider';
import { ProviderDecorator } from '../../../domain/interfaces/ProviderDecorator';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import { replayResponse } from '../shared/replayResponse';

export class BackgroundProvider extends ProviderDecorator<DefaultedProvider> {
  private readonly store: BackgroundCallStore;

  constructor(provider: DefaultedProvider, store: BackgroundCallStore) {
    super(provider);
    this.store = store;
  }

  get defaultModel(): string {
    return this.provider.defaultModel;
  }

  generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    return this.provider.generate(userId, this.withTurn(userId, options));
  }

  stream(userId: string, options: GenerateOptions): AsyncIterable<ResponseStreamEvent> {
    if (options.background !== true || options.relay === true) return this.provider.stream(userId, options);
    return EventStream.of(this.replayed(userId, options));
  }

  private async *replayed(userId: string, options: GenerateOptions): AsyncGenerator<ResponseStreamEvent> {
    yield* replayResponse(await this.generate(userId, options));
  }

  private withTurn(userId: string, options: GenerateOptions): GenerateOptions {
    const { background, turn } = options;
    if (background !== true || turn === undefined) return options;
    const { store } = this;
    const keyOf = <R>(request: R) => ({ userId, turn: `${turn.executionId}/${turn.iteration}`, ...request });
    const backgroundTurn: BackgroundTurn = {
      find: (request) => store.find(keyOf(request)),
      save: (request, responseId) => store.save(keyOf(request), responseId),
      remove: (request) => store.remove(keyOf(request)),
    };
    return { ...options, backgroundTurn };
  }
}
