/** The server of `npm start` with every vendor on a simulator, without the pauses of the one that it starts itself. */
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import type { Environment } from '../../imports/host/settings/environment';
import type { RunningServer } from '../../imports/host/node/startServer';
import { simulatedVendors } from './simulatedVendors';
import { startStandalone } from './startStandalone';

export interface SimulatedServer extends RunningServer {
  readonly simulator: Simulator;
}

export async function startSimulatedServer(env: Environment = {}): Promise<SimulatedServer> {
  const simulator = await startSimulator();
  const server = await startStandalone({ ...simulatedVendors(simulator), ...env });
  return {
    ...server,
    simulator,
    async close() {
      await server.close();
      await simulator.close();
    },
  };
}
