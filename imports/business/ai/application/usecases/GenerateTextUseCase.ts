/** Generates text for an actor who may use the provider. */
import { outputTextOf } from '../../domain/entities/Response';
import type { Actor } from '../../domain/types/Actor';
import type { RunLauncher, UseRequest } from './RunLauncher';

export class GenerateTextUseCase {
  private readonly launcher: RunLauncher;

  constructor(launcher: RunLauncher) {
    this.launcher = launcher;
  }

  /** @throws whatever `RunLauncher.launch` and `AgenticLoop.execute` throw */
  async execute(actor: Actor, request: UseRequest): Promise<string> {
    const { done } = await this.launcher.launch(actor, request, {
      tools: [],
      args: { operation: 'generateText' },
      run: async ({ options, execute }) => {
        const result = await execute(options);
        // A turn may consist of several responses. All output after the input is the text.
        return outputTextOf(result.transcript.slice(options.input.length));
      },
    });
    return done;
  }
}
