/** The one connection of the page. */
import { ClientConnection } from './ClientConnection';

export const connection = new ClientConnection();
