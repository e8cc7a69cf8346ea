/** Skills in a folder of the disk. Symbolic links are not followed, so that nothing outside of it can be read. */
import { constants } from 'node:fs';
import { open, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import type { SkillFiles } from './SkillFiles';
import { MAX_FILE_BYTES } from './skillLimits';

const MAX_FILES = 2_000;
const MAX_DEPTH = 6;
const IGNORED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** @param folder of one skill, or with a folder for each */
export function diskSkillFiles(folder: string): SkillFiles {
  return {
    list: async () => {
      const files: string[] = [];
      await collect(await realpath(folder), '', files);
      return files;
    },
    read: async (path) => {
      const file = join(await realpath(folder), ...path.split('/'));
      // A folder on the way may have become a link since it was listed.
      if ((await realpath(file)) !== file) throw new LLMInvalidRequestError(`"${path}" is a link.`, { path: 'path' });
      const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
      try {
        const { size } = await handle.stat();
        if (size > MAX_FILE_BYTES) return new Uint8Array(size);
        return await handle.readFile();
      } finally {
        await handle.close();
      }
    },
  };
}

async function collect(root: string, path: string, files: string[], depth = 0): Promise<void> {
  const entries = await readdir(join(root, path), { withFileTypes: true });
  for (const entry of entries.toSorted((left, right) => (left.name < right.name ? -1 : 1))) {
    const below = path === '' ? entry.name : `${path}/${entry.name}`;
    if (entry.isFile()) files.push(below);
    if (files.length > MAX_FILES)
      throw new LLMInvalidRequestError(`The folder of skills "${root}" has more than ${MAX_FILES} files.`);
    if (entry.isDirectory() && depth < MAX_DEPTH && !IGNORED.has(entry.name))
      await collect(root, below, files, depth + 1);
  }
}
