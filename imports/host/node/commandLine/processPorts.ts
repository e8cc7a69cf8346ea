/** Connects the command line to this process. The server's code is loaded by the commands that run one. */
import type { ToolRegistry } from '../../../business/ai/infrastructure/tools/ToolRegistry';
import { processEnvironment } from '../../settings/environment';
import type { ServerOptions } from '../startServer';
import type { CommandLinePorts } from './CommandLinePorts';

export function processPorts(options: Pick<ServerOptions, 'dashboard'> = {}): CommandLinePorts {
  return {
    environment: processEnvironment(),
    print: (line) => console.log(line),
    printError: (line) => console.error(line),
    now: () => new Date(),
    serve: async () => (await import('../runServer')).runServer({ ...options, tools: await demoTools() }),
    serveMcp: async () => (await import('../runMcp')).runMcp({ tools: await demoTools() }),
  };
}

async function demoTools(): Promise<ToolRegistry> {
  const { ToolRegistry } = await import('../../../business/ai/infrastructure/tools/ToolRegistry');
  return (await import('../../registerDemoTools')).registerDemoTools(new ToolRegistry());
}
