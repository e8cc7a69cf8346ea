/** Puts the dashboard's style sheets into `bolide/react`, for the shadow tree of a dashboard within an app. */
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Plugin } from 'rolldown';

export function inlineStyles(): Plugin {
  return {
    name: 'bolide:inline-styles',
    transform: {
      filter: { id: /imports\/ui\/embedded\/dashboardCss\.ts$/ },
      handler: async () => (await dashboardCss()).contents,
    },
  };
}

/** The module `dashboardCss`, with the style sheets. */
export async function dashboardCss(): Promise<{ readonly contents: string }> {
  return { contents: `export const DASHBOARD_CSS = ${JSON.stringify(await bundleStyles())};\n` };
}

/** @returns all of the dashboard's style sheets, minified */
export async function bundleStyles(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(__dirname, '../../imports/ui/dashboardStyles.ts')],
    bundle: true,
    write: false,
    minify: true,
    outdir: '/styles',
    logLevel: 'error',
  });
  const css = outputFiles.find(({ path }) => path.endsWith('.css'));
  if (css === undefined) throw new Error('The dashboard has no style sheet.');
  return css.text;
}
