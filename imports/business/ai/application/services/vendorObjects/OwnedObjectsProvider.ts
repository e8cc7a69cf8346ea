/** Decorates the router so that requests from outside are checked before they are sent, and what they made recorded. */
import { EventStream } from '../../../domain/events/EventStream';
import type { DefaultedProvider } from '../../../domain/interfaces/ILLMProvider';
import { ProviderDecorator } from '../../../domain/interfaces/ProviderDecorator';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { RelayCall, RelayResponse } from '../../../domain/types/RelayTypes';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { SentRequest } from '../../../domain/types/StoredObjects';
import type { SendGuard } from '../SendGuard';
import type { ObjectUser } from '../VendorObjects';
import { RecordedEvents } from './RecordedEvents';

/** What the last attempt of a call was sent to. */
interface LastSent {
  request?: SentRequest;
}

export class OwnedObjectsProvider extends ProviderDecorator<DefaultedProvider> {
  private readonly guard: SendGuard;

  constructor(provider: DefaultedProvider, guard: SendGuard) {
    super(provider);
    this.guard = guard;
  }

  get defaultModel(): string {
    return this.provider.defaultModel;
  }

  /** @throws ObjectNotFoundError, LLMPermissionError before anything is sent; whatever the provider throws */
  generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    const guarded = this.guarded({ userId, origin: options.origin }, options);
    if (guarded === undefined) return this.provider.generate(userId, options);
    return this.provider.generate(userId, guarded.options).then(async (response) => {
      await guarded.record(response);
      return response;
    });
  }

  /** @throws ObjectNotFoundError, LLMPermissionError before anything is sent; whatever the provider throws */
  stream(userId: string, options: GenerateOptions): EventStream {
    const guarded = this.guarded({ userId, origin: options.origin }, options);
    const events = EventStream.of(this.provider.stream(userId, guarded?.options ?? options));
    return guarded === undefined ? events : new EventStream(new RecordedEvents(events, guarded.record));
  }

  /** @throws ObjectNotFoundError, LLMPermissionError before anything is sent; whatever the provider throws */
  override relay(userId: string, request: RelayCall): Promise<RelayResponse> {
    const onSend = this.guard.guardOf({ userId, origin: request.origin });
    return super.relay(userId, onSend === undefined ? request : { ...request, onSend });
  }

  /** @returns undefined for a call that is not guarded */
  private guarded(
    user: ObjectUser,
    options: GenerateOptions,
  ): { readonly options: GenerateOptions; readonly record: (response: LLMResponse) => Promise<void> } | undefined {
    const check = this.guard.guardOf(user);
    if (check === undefined) return undefined;
    const last: LastSent = {};
    const onSend: GenerateOptions['onSend'] = async (request) => {
      last.request = request;
      await check(request);
    };
    return {
      options: { ...options, onSend },
      record: async (response) => {
        const { request } = last;
        if (request === undefined || request.isOwnAccount) return;
        await this.guard.objects.record(user, options, response, request.providerId);
      },
    };
  }
}
