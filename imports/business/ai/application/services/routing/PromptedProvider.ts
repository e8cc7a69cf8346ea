/** Decorates the calls behind routing rules: a `prompt` becomes the texts and settings saved under its name. */
import { EventStream } from '../../../domain/events/EventStream';
import type { ILLMProvider } from '../../../domain/interfaces/ILLMProvider';
import type { PromptSource, ResolvedPrompt } from '../../../domain/interfaces/PromptSource';
import { ProviderDecorator } from '../../../domain/interfaces/ProviderDecorator';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import { applyPrompt } from '../shared/applyPrompt';

export class PromptedProvider extends ProviderDecorator {
  private readonly prompts: PromptSource | undefined;

  constructor(provider: ILLMProvider, prompts: PromptSource | undefined) {
    super(provider);
    this.prompts = prompts;
  }

  generate(userId: string, request: GenerateOptions): Promise<LLMResponse> {
    return request.prompt === undefined ? this.provider.generate(userId, request) : this.prompted(userId, request);
  }

  private async prompted(userId: string, request: GenerateOptions): Promise<LLMResponse> {
    const { options, prompt } = await applyPrompt(this.prompts, userId, request);
    return withPrompt(await this.provider.generate(userId, options), prompt);
  }

  stream(userId: string, request: GenerateOptions): EventStream {
    if (request.prompt === undefined) return EventStream.of(this.provider.stream(userId, request));
    return EventStream.opening(async () => {
      const { options, prompt } = await applyPrompt(this.prompts, userId, request);
      return EventStream.of(this.provider.stream(userId, options)).through({
        push: (event, out) => {
          out.push(
            event.type === 'response.completed' ? { ...event, response: withPrompt(event.response, prompt) } : event,
          );
        },
      });
    });
  }
}

function withPrompt(response: LLMResponse, prompt: Pick<ResolvedPrompt, 'name' | 'version'> | undefined): LLMResponse {
  return prompt === undefined ? response : { ...response, vendor: { ...response.vendor, prompt } };
}
