/** Created by the server suite; the client suite signs in as this user. */
export const FIRST_USER = { email: 'admin@example.com', password: 'a long password' };
