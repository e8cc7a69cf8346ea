/** Has the npm package use the SDKs of vendors that the app has installed, before the copies that it contains. */
import { join } from 'node:path';
import type { Plugin } from 'rolldown';
import { rootRange } from './packageManifest';

/** By the file that imports it. */
export const INSTALLABLE_SDKS: Readonly<Record<string, string>> = {
  'OpenAIClient.ts': 'openai',
  'AnthropicClient.ts': '@anthropic-ai/sdk',
};
const HELPER = join(__dirname, 'importInstalled');

export function preferInstalledSdks(): Plugin {
  return {
    name: 'bolide:prefer-installed-sdks',
    transform: {
      filter: { id: /clients\/(?:OpenAI|Anthropic)Client\.ts$/ },
      handler(code, id) {
        const name = INSTALLABLE_SDKS[id.slice(id.lastIndexOf('/') + 1)] ?? '';
        const bundled = `await import('${name}')`;
        if (!code.includes(bundled)) throw new Error(`Expected ${bundled} in ${id}.`);
        const installed = `await importInstalled('${name}', '${rootRange(name).replace('^', '')}')`;
        const preferring = code.replace(bundled, `(${installed}) ?? (${bundled})`);
        return `import { importInstalled } from ${JSON.stringify(HELPER)};\n${preferring}`;
      },
    },
  };
}
