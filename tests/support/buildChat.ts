/** The chats of `examples/clients` as scripts of a page: compiled by each framework's own compiler. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, transform } from 'esbuild';
import type { Plugin } from 'esbuild';
import { compile } from 'svelte/compiler';
import { compileScript, parse } from 'vue/compiler-sfc';
import { ENTRIES } from '../../scripts/package/entries';

const ROOT = join(__dirname, '../..');
const CHATS = join(ROOT, 'examples/clients');

/** What mounts each in `#chat`. */
const MAIN = {
  react: `import { createElement, StrictMode } from 'react';
    import { createRoot } from 'react-dom/client';
    import { BolideProvider } from 'bolide/react';
    import { data } from './react/data';
    import { Chat } from './react/Chat';
    const chat = createElement(BolideProvider, { data }, createElement(Chat));
    createRoot(document.getElementById('chat')).render(createElement(StrictMode, null, chat));`,
  svelte: `import { mount } from 'svelte';
    import Chat from './svelte/Chat.svelte';
    mount(Chat, { target: document.getElementById('chat') });`,
  vue: `import { createApp } from 'vue';
    import Chat from './vue/Chat.vue';
    createApp(Chat).mount('#chat');`,
} as const;

export type Framework = keyof typeof MAIN;
export const FRAMEWORKS = Object.keys(MAIN) as readonly Framework[];

/** The page of a chat, whose script is in the page. */
export async function buildChat(framework: Framework): Promise<string> {
  return page('<div id="chat"></div>', await bundle(MAIN[framework]));
}

/** The page of `<bolide-chat>`, whose script is in the page. */
export async function buildElementChat(): Promise<string> {
  const [body = '', module = ''] = (await readFile(join(CHATS, 'element/chat.html'), 'utf8')).split(/<\/?script.*>/);
  return page(body, await bundle(module));
}

function page(body: string, script: string): string {
  const head = '<title>Chat</title><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">';
  return `<!doctype html><html lang="en">${head}${body}<script>${script.replaceAll('</script', '<\\/script')}</script></html>`;
}

async function bundle(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: CHATS },
    bundle: true,
    write: false,
    format: 'iife',
    jsx: 'automatic',
    conditions: ['browser'],
    alias: Object.fromEntries(
      Object.entries(ENTRIES).map(([name, file]) => [`bolide/${name}`, join(ROOT, 'imports/entries', file)]),
    ),
    define: {
      'process.env.NODE_ENV': '"production"',
      __VUE_OPTIONS_API__: 'true',
      __VUE_PROD_DEVTOOLS__: 'false',
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
    },
    plugins: [compilers()],
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}

function compilers(): Plugin {
  return {
    name: 'compilers',
    setup(builder) {
      builder.onLoad({ filter: /\.svelte$/ }, async ({ path }) => {
        const { js } = compile(await readFile(path, 'utf8'), { filename: path, generate: 'client' });
        return { contents: js.code, loader: 'js' };
      });
      builder.onLoad({ filter: /\.vue$/ }, async ({ path }) => {
        const { descriptor } = parse(await readFile(path, 'utf8'), { filename: path });
        const { content } = compileScript(descriptor, { id: 'chat', inlineTemplate: true });
        const { code } = await transform(content, { loader: 'ts' });
        return { contents: code, loader: 'js' };
      });
    },
  };
}
