/** A user with many requests that wait for a vendor's sockets does not make another wait behind them. */
import { expect } from 'chai';
import { DEFAULT_TRANSPORT_LIMITS, VENDORS } from '../../imports/business/ai/domain/types/VendorTypes';
import { createProvider } from '../../imports/business/ai/infrastructure/factories/createProvider';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { deferred } from '../support/deferred';
import { simulatedRow } from '../support/gateway';

describe('The sockets to a vendor', () => {
  for (const vendor of VENDORS)
    it(`of ${vendor} go to the user without one first`, async () => {
      const simulator = await startSimulator();
      const provider = createProvider({
        ...simulatedRow(simulator, vendor),
        limits: { ...DEFAULT_TRANSPORT_LIMITS, maxSockets: 1 },
      });
      const gate = deferred();
      simulator.enqueue(async () => {
        await gate.promise;
        return { text: 'First.' };
      });
      const order: string[] = [];
      const ask = async (userId: string, name: string): Promise<void> => {
        await provider.generate(userId, { input: name });
        order.push(name);
      };
      const first = ask('ann', 'a1');
      await simulator.nextRequest();
      const all = [first, ask('ann', 'a2'), ask('ann', 'a3'), ask('ann', 'a4'), ask('bob', 'b1')];
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      gate.resolve();
      await Promise.all(all);
      // The socket is ann's again when it is free, and then bob's turn, who came last.
      expect(order.indexOf('b1')).to.be.lessThan(order.indexOf('a3'));
      await simulator.close();
    });
});
