/** Loads the official MCP server, which only installations need that offer their tools. */
import { explainMissingPackage } from '../../ai/domain/errors/explainMissingPackage';

export type McpServerPackage = typeof import('@modelcontextprotocol/server');

/** @throws MissingPackageError */
export async function importMcpServer(): Promise<McpServerPackage> {
  try {
    return await import('@modelcontextprotocol/server');
  } catch (error) {
    throw explainMissingPackage(error, '@modelcontextprotocol/server', 'Offering tools over MCP');
  }
}
