/** Has the npm package use the SDKs that the app has installed, if they are newer than the copies it contains. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'rolldown';

/** By the file that imports it. */
export const INSTALLABLE_SDKS: Readonly<Record<string, string>> = {
  'OpenAIClient.ts': 'openai',
  'AnthropicClient.ts': '@anthropic-ai/sdk',
};
const HELPER = join(__dirname, 'importInstalled');
const PACKAGES = join(__dirname, '../../node_modules');

export function preferInstalledSdks(): Plugin {
  return {
    name: 'bolide:prefer-installed-sdks',
    transform: {
      filter: { id: /clients\/(?:OpenAI|Anthropic)Client\.ts$/ },
      handler(code, id) {
        const name = INSTALLABLE_SDKS[id.slice(id.lastIndexOf('/') + 1)] ?? '';
        const bundled = `await import('${name}')`;
        if (!code.includes(bundled)) throw new Error(`Expected ${bundled} in ${id}.`);
        const manifest = JSON.parse(readFileSync(join(PACKAGES, name, 'package.json'), 'utf8')) as { version: string };
        const installed = `await importInstalled('${name}', '${manifest.version}')`;
        const preferring = code.replace(bundled, `(${installed}) ?? (${bundled})`);
        return `import { importInstalled } from ${JSON.stringify(HELPER)};\n${preferring}`;
      },
    },
  };
}
