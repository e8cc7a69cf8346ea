/** Where folders of Agent Skills are read from: a disk, an MCP server, or a store of the program's own. */
export interface SkillFiles {
  /** The paths of all files, with `/` between their parts, such as `pdf/SKILL.md`. */
  list(): Promise<readonly string[]>;
  /** @param path one of the list */
  read(path: string): Promise<string | Uint8Array>;
}
