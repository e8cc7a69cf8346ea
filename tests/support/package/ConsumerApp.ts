/** An app in an empty folder that has installed the packed package, its dependencies, and nothing else. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import type { PackedPackage } from './packPackage';

const ROOT = join(__dirname, '../../..');
const run = promisify(execFile);

export interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export class ConsumerApp {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  /** @param packages what the app installs besides `bolide`, from this repository's node_modules */
  static async create(parent: string, packed: PackedPackage, packages: readonly string[] = []): Promise<ConsumerApp> {
    const app = new ConsumerApp(await mkdtemp(join(parent, 'app-')));
    await writeFile(join(app.directory, 'package.json'), '{ "name": "app", "private": true }');
    const modules = join(app.directory, 'node_modules');
    // A copy, so that Node resolves the package's imports from this folder.
    await cp(packed.directory, join(modules, 'bolide'), { recursive: true });
    for (const name of [...Object.keys(packed.manifest.dependencies), ...packages]) {
      await mkdir(dirname(join(modules, name)), { recursive: true });
      await symlink(join(ROOT, 'node_modules', name), join(modules, name), 'dir');
    }
    return app;
  }

  /** Runs a program with this process's Node. @param file its name, whose extension says which format it has */
  async run(file: string, code: string, env: Readonly<Record<string, string>> = {}): Promise<Output> {
    await this.write(file, code);
    return this.execute([file], env);
  }

  /** @param args of Node: a program, and its arguments */
  execute(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Output> {
    return run(process.execPath, args, {
      cwd: this.directory,
      env: { PATH: process.env['PATH'] ?? '', ...env },
      timeout: 60_000,
    }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: unknown) => error as Output,
    );
  }

  async write(file: string, text: string): Promise<void> {
    await writeFile(join(this.directory, file), text);
  }

  /** Type-checks a program and all declarations that it reaches. @returns one line per error */
  async typeErrors(file: string, code: string, options: ts.CompilerOptions): Promise<readonly string[]> {
    await this.write(file, code);
    const program = ts.createProgram([join(this.directory, file)], {
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.dom.asynciterable.d.ts'],
      esModuleInterop: true,
      types: ['node'],
      typeRoots: [join(this.directory, 'node_modules/@types')],
      ...options,
    });
    // Other packages' declarations are theirs.
    return ts
      .getPreEmitDiagnostics(program)
      .filter(({ file: source }) => source === undefined || source.fileName.startsWith(this.directory))
      .map(({ file: source, start = 0, messageText }) => {
        const line = source === undefined ? 0 : source.getLineAndCharacterOfPosition(start).line + 1;
        const path = source?.fileName.slice(this.directory.length + 1) ?? '';
        return `${path}:${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
      });
  }

  close(): Promise<void> {
    return rm(this.directory, { recursive: true });
  }
}
