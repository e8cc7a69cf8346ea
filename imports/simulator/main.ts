/** Runs the simulator from a terminal: prints its URLs and serves until it is stopped. */
import { parseArgs } from 'node:util';
import { VENDORS } from '../business/ai/domain/types/VendorTypes';
import { startSimulator } from './startSimulator';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      host: { type: 'string', default: '127.0.0.1' },
      delay: { type: 'string', default: '0' },
    },
  });
  const simulator = await startSimulator({
    port: Number(values.port),
    host: values.host,
    chunkDelayMs: Number(values.delay),
  });
  console.log(simulator.url);
  for (const vendor of VENDORS) console.log(`${vendor.padEnd(18)}${simulator.baseURL(vendor)}`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
