import { runAreas } from '../groups.ts';

runAreas(['instances'], 2, 3);
