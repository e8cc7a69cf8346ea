/** The entries of the npm package: file names in `dist`, and their sources in `imports/entries`. */
export const ENTRIES = {
  index: 'index.ts',
  core: 'core.ts',
  node: 'node.ts',
  meteor: 'meteor.ts',
  'meteor-client': 'meteorClient.ts',
  react: 'react.ts',
  svelte: 'svelte.ts',
  vue: 'vue.ts',
  element: 'element.ts',
  'ai-sdk': 'aiSdk.ts',
  testing: 'testing.ts',
} as const;
