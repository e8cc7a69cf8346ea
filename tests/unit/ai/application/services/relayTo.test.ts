/** Where all text of a response is needed, none of it may go to the client undecoded. */
import { expect } from 'chai';
import { CachedProvider } from '../../../../../imports/business/ai/application/services/routing/cache/CachedProvider';
import { MemoryResponseCache } from '../../../../../imports/business/ai/application/services/routing/cache/MemoryResponseCache';
import { LoggedProvider } from '../../../../../imports/business/requestLog/application/LoggedProvider';
import { PartialUsage } from '../../../../../imports/business/ai/application/services/routing/estimateUsage';
import type { ILLMProvider } from '../../../../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { GenerateOptions } from '../../../../../imports/business/ai/domain/types/LLMTypes';
import type { RelayTarget } from '../../../../../imports/business/ai/domain/types/RelayTarget';
import type { ResponseStreamEvent } from '../../../../../imports/business/ai/domain/types/StreamEvents';
import { RecordingRequestLog } from '../../../../support/RecordingRequestLog';

const TARGET: RelayTarget = { isOpen: false, characters: 400, write: () => undefined };
const OPTIONS: GenerateOptions = { model: 'm', input: 'Hi', relay: true, relayTo: TARGET };

/** What a provider behind the decorator is called with. */
async function reaching(
  decorate: (provider: ILLMProvider) => ILLMProvider,
  options: GenerateOptions,
): Promise<unknown> {
  let received: GenerateOptions | undefined;
  const provider: Pick<ILLMProvider, 'stream'> = {
    async *stream(_userId, given): AsyncGenerator<ResponseStreamEvent> {
      received = given;
    },
  };
  const stream = decorate(provider as ILLMProvider).stream('u', options);
  await stream[Symbol.asyncIterator]().next();
  return received?.relayTo;
}

describe('The target of relayed bytes', () => {
  const logged = (recordsBodies: boolean) => (provider: ILLMProvider) =>
    new LoggedProvider(provider, { log: new RecordingRequestLog(recordsBodies), routeOf: () => undefined });
  const cached = (provider: ILLMProvider): ILLMProvider =>
    new CachedProvider(provider, { cache: new MemoryResponseCache(), routeOf: () => undefined });

  it('is kept from a call whose body is logged', async () => {
    expect(await reaching(logged(true), OPTIONS)).to.equal(undefined);
    expect(await reaching(logged(false), OPTIONS)).to.equal(TARGET);
  });

  it('is kept from a call whose response is stored in the cache', async () => {
    expect(await reaching(cached, { ...OPTIONS, cache: { ttl: 1_000 } })).to.equal(undefined);
    expect(await reaching(cached, OPTIONS)).to.equal(TARGET);
  });

  it('counts in the usage of a stream that its client has left', () => {
    const { output_tokens } = new PartialUsage().estimate(OPTIONS);
    expect(output_tokens).to.equal(100);
  });
});
