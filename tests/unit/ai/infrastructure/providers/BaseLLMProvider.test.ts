/** The signal of an application, which serves any number of calls. */
import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { EventStream } from '../../../../../imports/business/ai/domain/events/EventStream';
import { VENDORS } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import { createProvider } from '../../../../../imports/business/ai/infrastructure/factories/createProvider';
import type { Simulator } from '../../../../../imports/simulator/Simulator';
import { startSimulator } from '../../../../../imports/simulator/startSimulator';
import { failure } from '../../../../support/failure';

describe('a call of a vendor', () => {
  let simulator: Simulator;
  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  for (const vendor of VENDORS)
    it(`leaves no listener at its signal, whether ${vendor} answers, fails or is left`, async () => {
      const provider = createProvider({
        vendor,
        apiKey: 'a-key',
        baseURL: simulator.baseURL(vendor),
        allowPrivateHosts: true,
        defaultModel: 'some-model',
      });
      const { signal } = new AbortController();
      const options = { model: 'some-model', input: 'hello', signal };
      const listeners = (): number => getEventListeners(signal, 'abort').length;
      await provider.generate('ann', options);
      expect(listeners(), 'answered').to.equal(0);
      for await (const _event of provider.stream('ann', options));
      expect(listeners(), 'streamed').to.equal(0);
      for await (const _event of provider.stream('ann', options)) break;
      expect(listeners(), 'left').to.equal(0);
      simulator.enqueue({ status: 400, body: { error: { message: 'No.' } } });
      await failure(EventStream.of(provider.stream('ann', options)).next());
      expect(listeners(), 'failed').to.equal(0);
    });
});
